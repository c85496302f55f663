import { describe, expect, test } from 'vitest'
import { RowKernel } from './row-kernel.ts'

const kernel = new RowKernel()

function plainLogSumExp(row: Float32Array): number {
  const most = Math.max(...row)
  return most + Math.log(row.reduce((sum, value) => sum + Math.exp(value - most), 0))
}

describe('a row of numbers', () => {
  test.each([1, 2, 63, 64, 65, 1000, 20_011])('of %i is reduced as the plain way does it', (size) => {
    for (const scale of [1e-6, 1, 20, 300]) {
      const row = Float32Array.from({ length: size }, (_, i) => scale * Math.sin(i * 12.9898 + scale))
      const reduced = kernel.reduce(row)!
      expect(reduced.most).toBe(Math.max(...row))
      const exact = plainLogSumExp(row)
      expect(Math.abs(reduced.logSumExp - exact)).toBeLessThanOrEqual(1e-12 * Math.max(1, Math.abs(exact)))
      const runs = Array.from({ length: Math.ceil(size / 64) }, (_, i) =>
        Math.max(...row.subarray(64 * i, 64 * i + 64)),
      )
      expect([...reduced.peaks]).toEqual(runs)
    }
  })

  test.each([
    ['equal numbers', [5, 5, 5, 5], 5 + Math.log(4)],
    ['numbers as far apart as can be', [3e38, -3e38], Math.fround(3e38)],
    ['a zero with a sign', [-0, 0], Math.log(2)],
    ['subnormal numbers', [1e-45, -1e-45], Math.log(2)],
  ])('of %s is reduced', (_, numbers, sum) => {
    expect(kernel.reduce(Float32Array.from(numbers))!.logSumExp).toBeCloseTo(sum, 12)
  })

  test.each([0, 1, 63, 64, 99])('with something at %i that is not finite is refused', (place) => {
    for (const odd of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
      const row = new Float32Array(100).fill(2)
      row[place] = odd
      expect(kernel.reduce(row)).toBeNull()
      row[place] = 2
      expect(kernel.reduce(row)!.logSumExp).toBeCloseTo(2 + Math.log(100), 12)
    }
  })

  test('without numbers is refused', () => {
    expect(kernel.reduce(new Float32Array(0))).toBeNull()
  })
})
