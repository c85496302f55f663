import { describe, expect, test } from 'vitest'
import { formatLimit, formatMeasured, formatRoundedUp } from './rule-text.ts'

describe('numbers in rules and reasons', () => {
  test.each([
    [0, '0'],
    [1e-3, '1e-3'],
    [0.05, '0.05'],
    [2.5e-4, '2.5e-4'],
    [1, '1'],
    [1e5, '1e+5'],
    [Number.POSITIVE_INFINITY, 'Infinity'],
  ])('the limit %d is written %s', (value, text) => {
    expect(formatLimit(value)).toBe(text)
  })

  test('measured values have three digits', () => {
    expect(formatMeasured(0.00123456)).toBe('1.23e-3')
    expect(formatMeasured(Number.NaN)).toBe('NaN')
  })

  test('a limit that a value just meets is never below it', () => {
    for (let i = 1; i < 2000; i++) {
      const value = i ** 3 * 1.2345e-7
      const limit = Number(formatRoundedUp(value))
      expect(limit).toBeGreaterThanOrEqual(value)
      expect(limit).toBeLessThanOrEqual(value * 1.11)
    }
    expect([1e-9, 0.1, 9.99, 3.0001].map(formatRoundedUp)).toEqual(['1e-9', '0.1', '10', '3.1'])
  })
})
