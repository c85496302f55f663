import { describe, expect, test } from 'vitest'
import { formatTarget, parseTarget, type TargetSchemas } from './target.ts'

const schemas: TargetSchemas = {
  ort: { defaultDevice: 'cpu', versioned: true, options: { threads: '1', optimization: 'all' } },
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
    ['ort@latest', 'ort@latest:cpu'],
    ['ort@1.31.0-dev.1:cpu', 'ort@1.31.0-dev.1:cpu'],
    ['command:me@board', 'command:me@board'],
    ['mine=ort:cpu,threads=2', 'mine'],
    ['command:./runner,arg=--fast,arg=x', 'command:./runner,arg=--fast,arg=x'],
    ['command:./name=odd', 'command:./name=odd'],
  ])('%s is written %s', (spec, canonical) => {
    expect(name(spec)).toBe(canonical)
  })

  test.each([
    ['orr:cpu', 'unknown runtime "orr" in target "orr:cpu"; did you mean "ort"?'],
    ['quantum', 'unknown runtime "quantum" in target "quantum"; known: command, ort, ort-web'],
    ['constructor:x', 'unknown runtime "constructor" in target "constructor:x"; known: command, ort, ort-web'],
    ['__proto__:x', 'unknown runtime "__proto__" in target "__proto__:x"; known: command, ort, ort-web'],
    ['ort:cpu,thread=2', 'unknown key "thread" in target "ort:cpu,thread=2"; did you mean "threads"?'],
    ['ort:cpu,threads', '"threads" in target "ort:cpu,threads" is not key=value'],
    ['command', 'target "command" names no device; write command:<what to run>'],
    ['command@1:run', 'command takes no version; leave "@1" out of target "command@1:run"'],
    ['command@:run', 'command takes no version; leave "@" out of target "command@:run"'],
    ['ort@:cpu', 'target "ort@:cpu" names no version after "@"; write one as in ort@1.30.0, ort@1.30, ort@latest'],
    ['ort@^1.23', 'target "ort@^1.23" has the invalid version "^1.23"; write one as in ort@1.30.0'],
    ['ort@..', 'has the invalid version ".."'],
    ['ort@evil.tgz', 'has the invalid version "evil.tgz"'],
    ['ort@../evil', 'has the invalid version "../evil"'],
  ])('%s is refused with a hint', (spec, message) => {
    expect(() => name(spec)).toThrow(message)
  })

  test('a version that is empty is not taken for none', () => {
    const empty = { runtime: 'ort', version: '', device: 'cpu', options: {} }
    expect(() => name(formatTarget(empty, schemas.ort!))).toThrow('names no version')
  })

  test('a name counts only before the first colon, at sign or comma', () => {
    const target = parseTarget('board one=command:run', schemas)
    expect([target.name, target.runtime, target.device]).toEqual(['board one', 'command', 'run'])
  })
})
