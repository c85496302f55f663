import { describe, expect, test } from 'vitest'
import { decodeNumbers } from '../../tensors/decode.ts'
import { encodeNumbers } from '../../tensors/encode.ts'
import { memorySource } from '../../tensors/memory-source.ts'
import { readWhole } from '../../tensors/read-whole.ts'
import { beyondPromise } from './beyond-promise.ts'
import { findPromise } from './promises.ts'

const ULP = 2 ** -23

describe('what WGSL promises of float32', () => {
  test.each([
    ['Sin', 1, 0.84, 2 ** -11],
    ['Cos', -3, -0.99, 2 ** -11],
    ['Tan', 0, 0, 2 ** -11 / (1 - 2 ** -11)],
    ['Atan', 1.6, 1.01, 4096 * ULP],
    ['Acos', 1, 0.1, 6.77e-5],
    ['Asin', 0, 0, 6.81e-5],
    ['Exp', 0, 1, 3 * ULP],
    ['Exp', -10, 4.5e-5, 23 * 2 ** -38],
    ['Log', 1.5, 0.41, 2 ** -21],
    ['Log', 3, 1.1, 3 * ULP],
    ['Cosh', 0, 1, 4 * ULP],
    ['Sinh', 0, 0, 3 * ULP],
  ])('%s(%d), which is %d', (op, x, r, allowed) => {
    expect(findPromise('wgsl', op, 'float32')!.allowed(x, r)).toBeCloseTo(allowed, 12)
  })

  test('is less exact in float16, and nothing is known of others', () => {
    expect(findPromise('wgsl', 'Sin', 'float16')!.allowed(1, 0.84)).toBe(2 ** -7)
    expect([findPromise('wgsl', 'Sin', 'float64'), findPromise('wgsl', 'Erf', 'float32')]).toEqual([null, null])
    expect(findPromise('wgsl', 'constructor', 'float32')).toBeNull()
  })

  test('of a tangent grows towards its poles, and ends where the cosine may be 0', () => {
    const { allowed } = findPromise('wgsl', 'Tan', 'float32')!
    expect(allowed(0, 1)).toBeCloseTo(2 * Math.SQRT2 * 2 ** -11, 5)
    expect(allowed(0, 100)).toBeGreaterThan(4)
    expect(allowed(0, 5000)).toBeLessThan(0.01)
  })

  test('ends beyond π for sine and cosine, and says so', () => {
    const { reach, text } = findPromise('wgsl', 'Cos', 'float32')!
    expect([reach, text]).toEqual([Math.PI, 'WGSL promises cos(x) to 2^-11 where |x| ≤ π'])
  })
})

describe('what is left of a target beyond its promise', () => {
  const tensorOf = (...values: number[]) =>
    memorySource('t', { dtype: 'float32', shape: [values.length], bytes: encodeNumbers('float32', values) }, 8)

  async function left(input: number[], reference: number[], target: number[]): Promise<number[]> {
    const values = { input: tensorOf(...input), reference: tensorOf(...reference), target: tensorOf(...target) }
    const source = beyondPromise(values, (x) => x)
    const numbers = new Float64Array(target.length)
    decodeNumbers('float32', await readWhole(source), 0, numbers.length, numbers)
    return [...numbers]
  }

  test('is the reference where it was kept, and the rest where it was not', async () => {
    expect(await left([1, 1, 1, 0.5, 0], [4, 4, 4, 4, 4], [4, 5, 2, 4.75, 4.25])).toEqual([4, 4, 3, 4.25, 4.25])
  })

  test('NaN and infinities stay: no promise covers them', async () => {
    const infinity = Number.POSITIVE_INFINITY
    expect(await left([9, 9, 9], [1, -infinity, 1], [Number.NaN, -88.03, infinity])).toEqual([
      Number.NaN,
      Math.fround(-88.03),
      infinity,
    ])
  })
})
