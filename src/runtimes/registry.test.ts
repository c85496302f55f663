import { describe, expect, test } from 'vitest'
import { readTarget, runtimeKind, TARGET_SCHEMAS } from './registry.ts'

describe('targets', () => {
  test.each([
    ['ort', 'ort:cpu'],
    ['ort:cpu,threads=1,optimization=all', 'ort:cpu'],
    ['ort@1.23.2:cpu,threads=2,deterministic=true', 'ort@1.23.2:cpu,deterministic=true,threads=2'],
    ['ort-web', 'ort-web:wasm'],
    ['command:./runner,arg=--fast,arg=-v', 'command:./runner,arg=--fast,arg=-v'],
    ['recorded:./golden', 'recorded:./golden'],
  ])('%s is read', (spec, name) => {
    expect(readTarget(spec).name).toBe(name)
  })

  test.each([
    ['ort:cpu,optimization=extendet', 'did you mean "extended"?'],
    ['ort:cpu,optimization=fast', 'it takes disabled, basic, extended, all'],
    ['ort:cpu,threads=0', 'expected a whole number from 1 up'],
    ['ort:cpu,threads=two', 'expected a whole number from 1 up'],
    ['ort:cpu,deterministic=yes', 'it takes true, false'],
    ['ort:cpu,thread=2', 'did you mean "threads"?'],
    ['rt:cpu', 'did you mean "ort"?'],
    ['command', 'names no device'],
  ])('%s is refused', (spec, message) => {
    expect(() => readTarget(spec)).toThrow(message)
  })

  test('every runtime with a schema can be loaded and carries that schema', async () => {
    for (const [name, schema] of Object.entries(TARGET_SCHEMAS)) {
      expect(await runtimeKind(name)).toMatchObject({ name, schema })
    }
  })
})
