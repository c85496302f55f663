import { describe, expect, test } from 'vitest'
import { UsageError } from '../../domain/errors.ts'
import { parseInputOption, parseInputPolicy, readInputPolicy } from './input-policy.ts'

describe('input policies in words', () => {
  test.each([
    ['0..1', { range: [0, 1] }],
    ['-1..1', { range: [-1, 1] }],
    ['-.5..1e3', { range: [-0.5, 1000] }],
    ['1.5..2.5', { range: [1.5, 2.5] }],
    ['3..3', { range: [3, 3] }],
    ['0.5', { value: 0.5 }],
    ['-3', { value: -3 }],
    ['1,2,3', { value: [1, 2, 3] }],
    ['x.npy', { file: 'x.npy' }],
    ['a/b/input_0.pb', { file: 'a/b/input_0.pb' }],
    ['x.safetensors', { file: 'x.safetensors' }],
    ['x.safetensors#entry', { file: 'x.safetensors#entry' }],
    ['../raw.BIN', { file: '../raw.BIN' }],
    ['voiced', { signal: 'voiced' }],
    ['text:-2.1..2.3', { signal: 'text', range: [-2.1, 2.3] }],
  ])('%s', (text, policy) => {
    expect(parseInputPolicy(text)).toEqual(policy)
  })

  test.each([
    ['1..0', 'must go from a lower to a higher'],
    ['voice', 'did you mean "voiced"?'],
    ['x.txt', 'may be a range (-1..1), a number (0.5)'],
    ['', 'is not understood'],
    ['text:5', 'must be low..high'],
    ['1,', 'is not understood'],
    ['0..1e999', 'must go from a lower to a higher finite'],
    ['NaN', 'is not understood'],
  ])('"%s" is refused', (text, message) => {
    expect(() => parseInputPolicy(text)).toThrow(UsageError)
    expect(() => parseInputPolicy(text)).toThrow(message)
  })

  test('an option has a name, which may hold colons and dots', () => {
    expect(parseInputOption('onnx::Flatten_0=0..1')).toEqual({ name: 'onnx::Flatten_0', policy: { range: [0, 1] } })
    expect(() => parseInputOption('0..1')).toThrow('--input takes name=…, found "0..1"')
  })
})

describe('input policies in configurations', () => {
  test('numbers, lists and words are short for policies', () => {
    const make = () => [1]
    expect(readInputPolicy(2)).toEqual({ value: 2 })
    expect(readInputPolicy([2, 3])).toEqual({ value: [2, 3] })
    expect(readInputPolicy('ones')).toEqual({ signal: 'ones' })
    expect(readInputPolicy({ file: 'x.npy' })).toEqual({ file: 'x.npy' })
    expect(readInputPolicy(make)).toBe(make)
  })

  test('ranges are checked there too', () => {
    expect(() => readInputPolicy({ range: [1, Number.NaN] })).toThrow('lower to a higher finite')
    expect(() => readInputPolicy([])).toThrow('empty list')
  })
})
