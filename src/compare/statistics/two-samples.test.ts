import { describe, expect, test } from 'vitest'
import { normalTail } from './normal.ts'
import { studentQuantile, studentTailQuantile } from './student-t.ts'
import { compareMeans, leastMean, summariseSample } from './two-samples.ts'

describe('tails', () => {
  test.each([
    [0, 0.5],
    [0.1, 0.460172162722971],
    [1, 0.158655253931457],
    [2.9, 0.00186581330038404],
    [3, 0.00134989803163009],
    [6, 9.86587645037698e-10],
    [10, 7.61985302416052e-24],
    [20, 2.75362411860623e-89],
  ])('beyond %f sigmas the normal distribution has %f', (k, tail) => {
    expect(normalTail(k) / tail).toBeCloseTo(1, 12)
  })

  test.each([
    [0.025, 4, 2.7764451051977987],
    [0.00134989803163009, 4, 6.620205966815872],
    [1e-20, 30, 22.658878371940183],
  ])("Student's tail %f with %i degrees begins at %f", (tail, degrees, value) => {
    expect(studentTailQuantile(tail, degrees) / value).toBeCloseTo(1, 9)
  })

  test('a tail and its quantile are one', () => {
    for (const degrees of [1, 2, 7, 63, 4000])
      for (const tail of [0.4, 0.05, 1e-3, 1e-6])
        expect(studentTailQuantile(tail, degrees) / studentQuantile(1 - tail, degrees)).toBeCloseTo(1, 5)
  })

  test('with many degrees it is the normal tail, with few it is wider', () => {
    expect(studentTailQuantile(normalTail(5), 1e6)).toBeCloseTo(5, 3)
    expect(studentTailQuantile(normalTail(20), 2)).toBeGreaterThan(1e40)
    expect(() => studentTailQuantile(0, 3)).toThrow(/no tail 0/)
  })
})

describe('two samples', () => {
  test('equal numbers have exactly their own mean', () => {
    expect(summariseSample([0.1, 0.1, 0.1])).toEqual({ count: 3, mean: 0.1, deviation: 0 })
    expect(summariseSample([7])).toEqual({ count: 1, mean: 7, deviation: 0 })
    expect(() => summariseSample([])).toThrow(/no mean/)
  })

  test('a deviation neither overflows nor vanishes', () => {
    for (const scale of [1e300, 1, 1e-200]) {
      const { mean, deviation } = summariseSample([1, 2, 3, 4].map((value) => value * scale))
      expect(mean / scale).toBeCloseTo(2.5, 12)
      expect(deviation / scale).toBeCloseTo(Math.sqrt(5 / 3), 12)
    }
  })

  test('t and degrees of freedom', () => {
    const { t, degrees } = compareMeans(summariseSample([1, 2, 3, 4]), summariseSample([3, 5, 7]))
    expect(degrees).toBe(5)
    expect(t).toBeCloseTo(2.029994857352875, 12)
  })

  test('one number against several has the spread of the several', () => {
    const { t, degrees } = compareMeans(summariseSample([1, 2, 3]), summariseSample([4]))
    expect(degrees).toBe(2)
    expect(t).toBeCloseTo(2 / Math.sqrt(4 / 3), 12)
    expect(() => compareMeans(summariseSample([1]), summariseSample([2]))).toThrow(/spread/)
  })

  test('without any spread a difference is infinite and equality none', () => {
    const still = summariseSample([2, 2, 2])
    expect(compareMeans(still, summariseSample([2])).t).toBe(0)
    expect(compareMeans(still, summariseSample([2.5])).t).toBe(Number.POSITIVE_INFINITY)
  })
})

describe('the least mean that reference runs explain', () => {
  test('of ten submissions against twenty references, best and worst dropped', () => {
    expect(leastMean(215040, 11976.86, 18, 8)).toBeCloseTo(206333, 0)
    expect(215040 / leastMean(215040, 11976.86, 18, 8)).toBeCloseTo(1.0422, 4)
  })

  test('of references that do not differ it is their mean', () => {
    expect(leastMean(215040, 0, 18, 8)).toBe(215040)
  })

  test('of the example of the rules, five submissions against ten references', () => {
    const kept = [16, 14, 16, 17, 16, 16, 15, 16, 15, 16].sort((a, b) => a - b).slice(1, -1)
    const { mean, deviation, count } = summariseSample(kept)
    const ofAll = deviation * Math.sqrt((count - 1) / count)
    expect(mean).toBe(15.75)
    expect(ofAll).toBeCloseTo(0.43, 2)
    expect(leastMean(mean, ofAll, 8, 3)).toBeCloseTo(15.21, 2)
  })
})
