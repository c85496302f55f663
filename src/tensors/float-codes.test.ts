import { describe, expect, test } from 'vitest'
import { type CodedFloatDType, floatCode, floatValues } from './float-codes.ts'

const FLOATS: CodedFloatDType[] = [
  'float16',
  'bfloat16',
  'float8e4m3fn',
  'float8e4m3fnuz',
  'float8e5m2',
  'float8e5m2fnuz',
  'float8e8m0',
  'float4e2m1',
]

describe('codes of small floats', () => {
  test.each(FLOATS)('every value of %s is written as the code it was read from', (dtype) => {
    const values = floatValues(dtype)
    const wrong = [...values.keys()].filter((code) => !isRoundTrip(dtype, values, code))
    expect(wrong).toEqual([])
  })

  test.each(FLOATS)('every number of %s between two neighbours is rounded to the nearer one, ties to even', (dtype) => {
    const values = floatValues(dtype)
    for (let code = 0; code + 1 < values.length; code++) {
      const [low, high] = [values[code]!, values[code + 1]!]
      if (!Number.isFinite(low) || !Number.isFinite(high) || high <= low || Math.abs(high) > 1e300) continue
      const middle = low + (high - low) / 2
      const even = code % 2 === 0 ? code : code + 1
      if (floatCode(dtype, middle) !== even) throw new Error(`${dtype}: tie at code ${code}`)
      if (floatCode(dtype, low + (high - low) * 0.49) !== code) throw new Error(`${dtype}: below tie at ${code}`)
      if (floatCode(dtype, low + (high - low) * 0.51) !== code + 1) throw new Error(`${dtype}: above tie at ${code}`)
    }
  })

  test.each([
    ['float16', 0x0001, 2 ** -24],
    ['float16', 0x03ff, 1023 * 2 ** -24],
    ['float16', 0x0400, 2 ** -14],
    ['float16', 0x3555, 0.333251953125],
    ['float16', 0x7bff, 65504],
    ['float16', 0xfc00, Number.NEGATIVE_INFINITY],
    ['bfloat16', 0x3f80, 1],
    ['bfloat16', 0xc049, -3.140625],
    ['bfloat16', 0x7f7f, 3.3895313892515355e38],
    ['bfloat16', 0x0001, 2 ** -133],
    ['float8e4m3fn', 0x7e, 448],
    ['float8e4m3fn', 0x01, 2 ** -9],
    ['float8e4m3fn', 0x7f, Number.NaN],
    ['float8e4m3fn', 0xff, Number.NaN],
    ['float8e4m3fnuz', 0x7f, 240],
    ['float8e4m3fnuz', 0x80, Number.NaN],
    ['float8e4m3fnuz', 0x01, 2 ** -10],
    ['float8e5m2', 0x7b, 57344],
    ['float8e5m2', 0x7c, Number.POSITIVE_INFINITY],
    ['float8e5m2', 0x7d, Number.NaN],
    ['float8e5m2', 0x01, 2 ** -16],
    ['float8e5m2fnuz', 0x7f, 57344],
    ['float8e5m2fnuz', 0x80, Number.NaN],
    ['float8e5m2fnuz', 0x01, 2 ** -17],
    ['float8e8m0', 0x00, 2 ** -127],
    ['float8e8m0', 0x7f, 1],
    ['float8e8m0', 0xff, Number.NaN],
    ['float4e2m1', 0x1, 0.5],
    ['float4e2m1', 0x7, 6],
    ['float4e2m1', 0xd, -3],
  ] as const)('%s code %i is %d', (dtype, code, value) => {
    expect(floatValues(dtype)[code]).toBe(value)
  })

  test.each([
    ['float16', 65519.99, 65504],
    ['float16', 65520, Number.POSITIVE_INFINITY],
    ['float16', -1e10, Number.NEGATIVE_INFINITY],
    ['float16', 2 ** -25, 0],
    ['float16', 2 ** -25 * 1.0001, 2 ** -24],
    ['bfloat16', 3.4e38, Number.POSITIVE_INFINITY],
    ['float8e4m3fn', 1e9, 448],
    ['float8e4m3fn', Number.POSITIVE_INFINITY, Number.NaN],
    ['float8e4m3fnuz', -1e9, -240],
    ['float8e4m3fnuz', -0, 0],
    ['float8e4m3fnuz', -1e-9, 0],
    ['float8e5m2', 1e9, 57344],
    ['float8e5m2', Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY],
    ['float8e8m0', -1, Number.NaN],
    ['float8e8m0', 1e300, 2 ** 127],
    ['float8e8m0', 0, 2 ** -127],
    ['float4e2m1', 100, 6],
    ['float4e2m1', -0.1, -0],
  ] as const)('%s writes %d as %d', (dtype, value, stored) => {
    expect(floatValues(dtype)[floatCode(dtype, value)]).toBe(stored)
  })

  test('NaN as float4e2m1 is refused, because it has none', () => {
    expect(() => floatCode('float4e2m1', Number.NaN)).toThrow('has neither NaN nor infinity')
  })

  test('double rounding does not happen on the way from float64 to float16', () => {
    const justAboveTie = 1 + 2 ** -11 + 2 ** -40
    expect(floatValues('float16')[floatCode('float16', justAboveTie)]).toBe(1 + 2 ** -10)
  })
})

function isRoundTrip(dtype: CodedFloatDType, values: Float64Array, code: number): boolean {
  const value = values[code]!
  const back = floatCode(dtype, value)
  return Number.isNaN(value) ? Number.isNaN(values[back]!) : back === code
}
