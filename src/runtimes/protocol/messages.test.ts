import { describe, expect, test } from 'vitest'
import { parseForm, parseHello, parseOpened, parseWarmUp } from './messages.ts'

const hello = { protocols: [1], version: '1', accepts: ['onnx'], dtypes: ['float32'] }

test('formats that we do not know are not taken for ours', () => {
  expect(parseHello({ ...hello, accepts: ['gguf', 'huggingface'], capabilities: {} })).toMatchObject({
    accepts: ['huggingface'],
  })
})

test('an input may be one that can be left out', () => {
  const spec = { name: 'mask', kind: 'tensor', dtype: 'int64', shape: ['batch', 3], optional: true }
  expect(parseOpened({ session: 1, inputs: [spec], outputs: [] }).inputs).toEqual([spec])
})

describe('a warm-up', () => {
  test('is asked of sessions that say so', () => {
    const opened = { session: 1, inputs: [], outputs: [] }
    expect(parseOpened({ ...opened, warms: true })).toHaveProperty('warms', true)
    expect(parseOpened({ ...opened, warms: 'yes' })).not.toHaveProperty('warms')
  })

  test.each([
    [
      { durationMs: 9, compileMs: 7 },
      { durationMs: 9, compileMs: 7 },
    ],
    [{ durationMs: 9 }, { durationMs: 9, compileMs: 0 }],
    [
      { durationMs: 9, compileMs: 20 },
      { durationMs: 9, compileMs: 9 },
    ],
    [{}, null],
  ])('%j', (answer, warmUp) => {
    expect(parseWarmUp(answer)).toEqual(warmUp)
  })

  test('of less than no time breaks the protocol', () => {
    expect(() => parseWarmUp({ durationMs: 9, compileMs: -1 })).toThrow('warm compileMs')
  })
})

test('a language of kernels is taken where we know what it promises', () => {
  const shadersOf = (shaders: string) => parseHello({ ...hello, capabilities: { shaders } })
  expect(shadersOf('wgsl')).toHaveProperty('capabilities.shaders', 'wgsl')
  expect(shadersOf('glsl')).not.toHaveProperty('capabilities.shaders')
})

describe('intermediate forms', () => {
  test('are listed by name, in order; a worker that lists none gives none', () => {
    expect(parseHello({ ...hello, capabilities: { forms: ['basic', 'all'] } })).toMatchObject({
      capabilities: { forms: ['basic', 'all'] },
    })
    expect(parseHello({ ...hello, capabilities: {} })).not.toHaveProperty('capabilities.forms')
  })

  test.each([['../etc'], ['a/b'], [''], ['.hidden'], ['a\nb'], ['x'.repeat(101)], [7]])(
    'a name such as %j, which could not be part of a file name, breaks the protocol',
    (name) => {
      expect(() => parseHello({ ...hello, capabilities: { forms: [name] } })).toThrow('capabilities forms')
    },
  )

  test('a name that comes twice breaks the protocol', () => {
    expect(() => parseHello({ ...hello, capabilities: { forms: ['a', 'a'] } })).toThrow('none twice')
  })

  test('are named as a plain file, or not at all where the target does not go that far', () => {
    expect(parseForm({ file: 'basic.onnx' })).toBe('basic.onnx')
    expect(parseForm({ file: null })).toBeNull()
  })

  test.each([['../basic.onnx'], ['/etc/passwd'], ['..'], [undefined], [{}]])(
    'a file named %j breaks the protocol',
    (file) => {
      expect(() => parseForm({ file })).toThrow('form file')
    },
  )
})

test('details are few and short', () => {
  const detailed = (detail: object) => parseHello({ ...hello, capabilities: {}, detail })
  expect(detailed({ driver: 7.1, flags: 'x'.repeat(2001) })).toMatchObject({
    detail: { driver: '7.1', flags: `${'x'.repeat(1999)}…` },
  })
  const many = Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`d${i}`, 'x']))
  expect(() => detailed(many)).toThrow('hello detail: found 65 entries, expected at most 64')
})
