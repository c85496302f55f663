import { describe, expect, test } from 'vitest'
import { encodeBigInts, encodeNumbers } from './encode.ts'
import { formatElement, formatString } from './format-element.ts'

describe('elements as text', () => {
  test.each([
    ['float32', 0.1, '0.1'],
    ['float32', 16777217, '16777216'],
    ['float32', -0, '-0'],
    ['float32', Number.NaN, 'NaN'],
    ['float32', Number.NEGATIVE_INFINITY, '-Infinity'],
    ['float32', 1e-45, '1e-45'],
    ['float64', 0.1, '0.1'],
    ['float16', 0.1, '0.1'],
    ['float16', 65504, '65504'],
    ['bfloat16', 3.14, '3.14'],
    ['float8e4m3fn', 448, '448'],
    ['float8e4m3fn', 0.1015625, '0.1'],
    ['bool', 1, 'true'],
    ['int4', -8, '-8'],
    ['uint2', 3, '3'],
  ] as const)('%s %d is %s', (dtype, value, text) => {
    expect(formatElement(dtype, encodeNumbers(dtype, [value]), 0)).toBe(text)
  })

  test('64-bit integers are exact', () => {
    expect(formatElement('int64', encodeBigInts('int64', [0n, 9007199254740993n]), 1)).toBe('9007199254740993')
  })

  test('complex numbers show both parts', () => {
    expect(formatElement('complex64', encodeNumbers('complex64', [1.5, -2, 0.1, Number.NaN]), 0)).toBe('1.5-2i')
    expect(formatElement('complex64', encodeNumbers('complex64', [1.5, -2, 0.1, Number.NaN]), 1)).toBe('0.1+NaNi')
  })

  test('strings are quoted, escaped and cut', () => {
    expect(formatString('a\u001b[31m')).toBe('"a\\u001b[31m"')
    expect(formatString('x'.repeat(300))).toMatch(/^"x{200}"… \(300 characters\)$/)
  })
})
