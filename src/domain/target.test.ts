import { describe, expect, test } from 'vitest'
import { parseTarget, type TargetSchemas } from './target.ts'

const schemas: TargetSchemas = {
  ort: { defaultDevice: 'cpu', options: { threads: '1', optimization: 'all' } },
  'ort-web': { defaultDevice: 'wasm', options: { threads: '1' } },
  command: { defaultDevice: '', openDevice: true, options: { arg: null } },
}
const name = (spec: string) => parseTarget(spec, schemas).name

describe('target specs', () => {
  test.each([
    ['ort', 'ort:cpu'],
    ['ort:cpu,threads=1', 'ort:cpu'],
    ['ort:cpu,threads=2,optimization=disabled', 'ort:cpu,optimization=disabled,threads=2'],
    ['ort@1.23.2', 'ort@1.23.2:cpu'],
    ['mine=ort:cpu,threads=2', 'mine'],
    ['command:./runner,arg=--fast,arg=x', 'command:./runner,arg=--fast,arg=x'],
    ['command:./name=odd', 'command:./name=odd'],
  ])('%s is written %s', (spec, canonical) => {
    expect(name(spec)).toBe(canonical)
  })

  test.each([
    ['orr:cpu', 'unknown runtime "orr" in target "orr:cpu"; did you mean "ort"?'],
    ['quantum', 'unknown runtime "quantum" in target "quantum"; known: command, ort, ort-web'],
    ['ort:cpu,thread=2', 'unknown key "thread" in target "ort:cpu,thread=2"; did you mean "threads"?'],
    ['ort:cpu,threads', '"threads" in target "ort:cpu,threads" is not key=value'],
    ['command', 'target "command" names no device; write command:<what to run>'],
  ])('%s is refused with a hint', (spec, message) => {
    expect(() => name(spec)).toThrow(message)
  })

  test('a name counts only before the first colon, at sign or comma', () => {
    const target = parseTarget('board one=command:run', schemas)
    expect([target.name, target.runtime, target.device]).toEqual(['board one', 'command', 'run'])
  })
})
