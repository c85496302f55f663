import { describe, expect, test } from 'vitest'
import { TEST_OPTIONS } from '../suites/onnx/options.ts'
import { resolveOptions } from './resolve.ts'

const resolve = (commandLine: object, environment: Record<string, string> = {}, file: object = {}) =>
  resolveOptions(TEST_OPTIONS, { commandLine: { ...commandLine }, environment, file })

describe('options', () => {
  test('the command line wins over the environment, that over the file, that over the default', () => {
    const file = { seed: 3 }
    expect(resolve({}).values.seed).toBe(0)
    expect(resolve({}, {}, file).values.seed).toBe(3)
    expect(resolve({}, { ASSAY_SEED: '2' }, file).values.seed).toBe(2)
    const { values, origins } = resolve({ seed: '1' }, { ASSAY_SEED: '2' }, file)
    expect([values.seed, origins.seed]).toEqual([1, 'command line'])
  })

  test('an empty variable counts as none', () => {
    expect(resolve({}, { ASSAY_SEED: '' }).values.seed).toBe(0)
  })

  test.each([
    ['timeout', '90', 90],
    ['timeout', '5min', 300],
    ['timeout', '250ms', 0.25],
    ['memoryLimit', '4gb', 4e9],
    ['memoryLimit', '2GiB', 2 ** 31],
  ])('%s=%s is %d', (key, text, value) => {
    expect(resolve({ [key]: text }).values).toMatchObject({ [key]: value })
  })

  test.each([
    ['timeout', 'soon'],
    ['timeout', '-1'],
    ['seed', '3s'],
    ['memoryLimit', '4 apples'],
    ['rtol', 'NaN'],
  ])('%s=%s is refused by the name of its flag', (key, text) => {
    expect(() => resolve({ [key]: text })).toThrow(/^--[a-z-]+ takes a number of at least 0, found/)
  })

  test('targets in the environment are separated by blanks or semicolons, because specs hold commas', () => {
    const { values } = resolve({}, { ASSAY_TARGET: 'ort:cpu,threads=2; ort-web:wasm' })
    expect(values.target).toEqual(['ort:cpu,threads=2', 'ort-web:wasm'])
  })

  test('what is for the command line alone is not taken from the environment', () => {
    expect(resolve({}, { ASSAY_KEYWORD: 'x' }).values.keyword).toBeUndefined()
  })

  test.each([
    ['1', true],
    ['false', false],
  ])('a switch may be %s in the environment', (text, value) => {
    expect(resolve({}, { ASSAY_STRICT: text }).values.strict).toBe(value)
  })

  test('a switch that is neither is refused', () => {
    expect(() => resolve({}, { ASSAY_STRICT: 'maybe' })).toThrow('--strict takes true or false, found "maybe"')
  })
})
