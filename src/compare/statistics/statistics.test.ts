import { describe, expect, test } from 'vitest'
import { binomialCdf, quantileInterval, rateInterval } from './binomial.ts'
import { median, percentile, sorted } from './percentile.ts'
import { meanBounds, studentQuantile } from './student-t.ts'

describe('percentile', () => {
  test('of nothing is nothing, of one number that number', () => {
    expect(percentile(sorted([]), 99)).toBeNull()
    expect(percentile(sorted([7]), 1)).toBe(7)
  })

  test('interpolates to the last bit as NumPy does', () => {
    expect(percentile(sorted([4, 1, 3, 2]), 99)).toBe(3.9699999999999998)
    expect(percentile(sorted([0.1, 0.5, 0.2, 0.9, 0.3]), 50)).toBe(0.3)
    expect(percentile(sorted([0.1, 0.7]), 30)).toBe(0.28)
  })

  test('infinities have a rank, NaN has none', () => {
    expect(percentile(sorted([1, Number.POSITIVE_INFINITY]), 100)).toBe(Number.POSITIVE_INFINITY)
    expect(median([Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY])).toBe(Number.POSITIVE_INFINITY)
    expect(() => sorted([1, Number.NaN, 2])).toThrow(/NaN/)
  })
})

describe("Student's t", () => {
  test.each([
    [0.99, 1, 31.82051595],
    [0.99, 2, 6.964556734],
    [0.99, 7, 2.997951567],
    [0.99, 63, 2.387008],
    [0.975, 1, 12.70620474],
    [0.95, 1e6, 1.644854],
    [0.5, 3, 0],
  ])('its %f quantile with %i degrees of freedom is %f', (p, degrees, value) => {
    expect(studentQuantile(p, degrees)).toBeCloseTo(value, 5)
    expect(studentQuantile(1 - p, degrees)).toBeCloseTo(-value, 5)
  })

  test('bounds of a mean', () => {
    const { mean, low, high } = meanBounds([1, 2, 3, 4], 0.99)
    expect(mean).toBe(2.5)
    expect(high - mean).toBeCloseTo(4.540702859 * Math.sqrt(5 / 3 / 4), 8)
    expect(mean - low).toBeCloseTo(high - mean, 12)
    expect(() => meanBounds([1], 0.99)).toThrow(/two are needed/)
  })
})

describe('binomial', () => {
  test('its distribution adds up', () => {
    expect(binomialCdf(10, 1024, 0.01)).toBeCloseTo(0.5529, 3)
    expect(binomialCdf(0, 10, 0.5)).toBeCloseTo(2 ** -10, 15)
    expect(binomialCdf(-1, 10, 0.5)).toBe(0)
    expect(binomialCdf(10, 10, 0.5)).toBe(1)
  })

  test('the interval of a median is made of two of the numbers', () => {
    const numbers = sorted(Array.from({ length: 10 }, (_, i) => i + 1))
    expect(quantileInterval(numbers, 0.5, 0.95)).toEqual({ low: 2, high: 9, confidence: 0.95 })
  })

  test('few numbers do not bound a 99th percentile from above', () => {
    const interval = (n: number) => quantileInterval(sorted(Array.from({ length: n }, (_, i) => i + 1)), 0.99, 0.95)
    expect(interval(367).high).toBeNull()
    expect(interval(368).high).toBe(368)
    expect(interval(1)).toEqual({ low: 1, high: null, confidence: 0.95 })
    expect(interval(0)).toEqual({ low: null, high: null, confidence: 0.95 })
  })

  test('the interval of a rate', () => {
    const { low, high } = rateInterval(1, 10, 0.95)
    expect(low).toBeCloseTo(0.002528579, 8)
    expect(high).toBeCloseTo(0.445016117, 8)
    expect(rateInterval(0, 10, 0.95).low).toBe(0)
    expect(rateInterval(10, 10, 0.95).high).toBe(1)
  })
})
