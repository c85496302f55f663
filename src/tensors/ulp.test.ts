import { describe, expect, test } from 'vitest'
import { coarserDType, ulpDistance, ulpSize } from './ulp.ts'

describe('ulp distance', () => {
  test.each([
    ['float32', 1, 1 + 2 ** -23, 1],
    ['float32', 1, 1 - 2 ** -24, 1],
    ['float32', 0, -0, 0],
    ['float32', 2 ** -149, -(2 ** -149), 2],
    ['float32', 1, 2, 2 ** 23],
    ['float64', 1, 1 + Number.EPSILON, 1],
    ['float64', 1e300, 1e300 + 2 ** 945, 2],
    ['float64', 5e-324, 0, 1],
    ['float16', 65504, 65472, 1],
    ['float16', 2 ** -14, 2 ** -14 - 2 ** -24, 1],
    ['float16', 1, 1 + 2 ** -11, 0.5],
    ['bfloat16', 1, 1 + 2 ** -7, 1],
    ['float8e4m3fn', 448, 416, 1],
    ['float8e5m2', -1, 1, 120],
    ['float8e8m0', 2, 8, 2],
  ] as const)('%s: from %d to %d', (dtype, a, b, distance) => {
    expect(ulpDistance(dtype, a, b)).toBe(distance)
    expect(ulpDistance(dtype, b, a)).toBe(distance)
  })

  test('the size of a step follows the binade and stays put below the normal numbers', () => {
    expect(ulpSize('float32', 1)).toBe(2 ** -23)
    expect(ulpSize('float32', -3)).toBe(2 ** -22)
    expect(ulpSize('float16', 0)).toBe(2 ** -24)
    expect(ulpSize('bfloat16', 1e-45)).toBe(2 ** -133)
  })

  test('an integer has no ulp', () => {
    expect(() => ulpSize('int8', 1)).toThrow('int8 has no ulp')
  })

  test('the coarser of two dtypes has fewer mantissa bits', () => {
    expect(coarserDType('float32', 'bfloat16')).toBe('bfloat16')
    expect(coarserDType('float8e5m2', 'float16')).toBe('float8e5m2')
  })
})
