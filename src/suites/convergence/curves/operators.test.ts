import { describe, expect, test } from 'vitest'
import { OPERATORS, type Operator } from '../../../domain/convergence.ts'
import { documentedLimits, isWithin, limitsAround, passesDocumented } from './operators.ts'
import { parseNumber } from './parse-number.ts'

const [NAN, INF] = [Number.NaN, Number.POSITIVE_INFINITY]

type Row = readonly [reference: number, operator: Operator, target: number, margin: number, passes: boolean]

const TABLE: readonly Row[] = [
  // A positive value, margin 5 %: down to e(1−m), up to e/(1−m).
  [1, '==', 1, 0.05, true],
  [1, '==', 1.05, 0.05, true],
  [1, '==', 1.0526, 0.05, true],
  [1, '==', 1.0527, 0.05, false],
  [1, '==', 0.9501, 0.05, true],
  [1, '==', 0.95, 0.05, false],
  [1, '==', -1, 0.05, false],
  [1, '!=', 1.0526, 0.05, false],
  [1, '!=', 1.0527, 0.05, true],
  [1, '!=', 0.9501, 0.05, false],
  [1, '!=', 0.95, 0.05, true],
  [1, '!=', 1, 0.05, false],
  [1, '<=', 1.0526, 0.05, true],
  [1, '<=', 1.0527, 0.05, false],
  [1, '<=', 0.1, 0.05, true],
  [1, '<=', -5, 0.05, true],
  [1, '>=', 0.9501, 0.05, true],
  [1, '>=', 0.95, 0.05, false],
  [1, '>=', 9, 0.05, true],
  [2, '<=', 2 * 1.052, 0.05, true],
  [2, '<=', 2 * 1.053, 0.05, false],
  // Strict ones take no margin.
  [1, '<', 0.9999999, 0.05, true],
  [1, '<', 1, 0.05, false],
  [1, '<', 1.01, 0.05, false],
  [1, '>', 1.0000001, 0.05, true],
  [1, '>', 1, 0.05, false],
  [1, '>', 0.99, 0.05, false],
  // A negative value: mirrored by magnitude.
  [-1, '==', -1.0526, 0.05, true],
  [-1, '==', -1.0527, 0.05, false],
  [-1, '==', -0.9501, 0.05, true],
  [-1, '==', -0.95, 0.05, false],
  [-1, '!=', -0.95, 0.05, true],
  [-1, '!=', -1.0526, 0.05, false],
  [-1, '<=', -0.9501, 0.05, true],
  [-1, '<=', -0.95, 0.05, false],
  [-1, '<=', -2, 0.05, true],
  [-1, '>=', -1.0526, 0.05, true],
  [-1, '>=', -1.0527, 0.05, false],
  [-1, '>=', 3, 0.05, true],
  [-1, '<', -1.1, 0.05, true],
  [-1, '<', -0.99, 0.05, false],
  [-1, '>', -0.9, 0.05, true],
  [-1, '>', -1.01, 0.05, false],
  // Zero has no margin.
  [0, '==', 0, 0.05, true],
  [0, '==', 1e-9, 0.05, false],
  [0, '==', -0, 0.05, true],
  [0, '!=', 0, 0.05, false],
  [0, '!=', 1e-9, 0.05, true],
  [0, '<=', 0, 0.05, true],
  [0, '<=', 1e-9, 0.05, false],
  [0, '<=', -1e-9, 0.05, true],
  [0, '>=', 0, 0.05, true],
  [0, '>=', -1e-9, 0.05, false],
  [0, '>=', 1e-9, 0.05, true],
  [0, '<', 0, 0.05, false],
  [0, '<', -1e-9, 0.05, true],
  [0, '>', 0, 0.05, false],
  [0, '>', 1e-9, 0.05, true],
  // A margin of 1 and more: everything of the same sign is close.
  [1, '==', 1e9, 1, true],
  [1, '==', 1e-9, 1, true],
  [1, '==', -1e-9, 1, false],
  [1, '!=', 1e9, 1, false],
  [1, '!=', -1e-9, 1, true],
  [1, '<=', 1e9, 1, true],
  [1, '>=', 0, 1, true],
  [1, '>=', -1e-9, 1, false],
  [-1, '<=', 1e-9, 1, false],
  [-1, '>=', -1e9, 1, true],
  [0, '==', 5, 1, true],
  [1, '==', -0.5, 1.5, true],
  [1, '==', -0.6, 1.5, false],
  [1, '==', -2, 1.5, true],
  [1, '==', -1.9, 1.5, false],
  [1, '==', -7, 2, true],
  [1, '!=', -7, 2, false],
  // Without a margin.
  [1, '==', 1, 0, true],
  [1, '==', 1 + Number.EPSILON, 0, false],
  [1, '<=', 1 + Number.EPSILON, 0, false],
  // At the ends of doubles.
  [1e308, '==', -1e308, 0.5, false],
  [1e308, '<=', 1.7e308, 0.5, true],
  [5e-324, '==', 1e-323, 0.4, true],
]

describe('the documented operators', () => {
  test.each(TABLE)('recorded %d %s target %d, margin %d: %s', (reference, operator, target, margin, passes) => {
    expect(passesDocumented(reference, operator, target, margin)).toBe(passes)
  })

  const WILD = [
    [NAN, 1],
    [1, NAN],
    [NAN, NAN],
    [INF, INF],
    [-INF, -INF],
    [1, INF],
    [1, -INF],
    [INF, 1],
    [-INF, 1],
    [0, NAN],
  ] as const
  test.each(WILD)('%d against %d fails every operator', (reference, target) => {
    for (const operator of OPERATORS) {
      for (const margin of [0, 0.05, 1, 2]) expect(passesDocumented(reference, operator, target, margin)).toBe(false)
      expect(isWithin(limitsAround(1, operator, 0.1), target === 1 ? NAN : target)).toBe(false)
    }
  })
})

describe('printed limits', () => {
  test.each([
    [1, '==', 0.05, 0.95, 1 / 0.95, 'allowed'],
    [1, '!=', 0.05, 0.95, 1 / 0.95, 'outside'],
    [1, '<=', 0.05, null, 1 / 0.95, 'allowed'],
    [1, '>=', 0.05, 0.95, null, 'allowed'],
    [1, '<', 0.05, null, 1, 'forbidden'],
    [1, '>', 0.05, 1, null, 'forbidden'],
    [-1, '==', 0.05, -1 / 0.95, -0.95, 'allowed'],
    [-1, '<=', 0.05, null, -0.95, 'allowed'],
    [-1, '>=', 0.05, -1 / 0.95, null, 'allowed'],
    [-1, '<', 0.05, null, -1, 'forbidden'],
    [0, '==', 0.05, 0, 0, 'allowed'],
    [0, '!=', 0.05, 0, 0, 'outside'],
    [0, '<=', 0.05, null, 0, 'allowed'],
    [1, '==', 1, 0, null, 'allowed'],
    [1, '<=', 1, null, null, 'allowed'],
    [1, '!=', 1, null, 0, 'forbidden'],
    [-1, '<=', 1, null, 0, 'allowed'],
    [1, '>=', 1.5, -2, -0.5, 'outside'],
    [1, '!=', 1.5, -2, -0.5, 'forbidden'],
    [1, '==', 2, null, null, 'allowed'],
    [1, '!=', 2, null, null, 'outside'],
    [1e308, '<=', 0.9, null, null, 'allowed'],
  ] as const)('of %d %s with margin %d are %s and %s, %s', (reference, operator, margin, low, high, edges) => {
    expect(documentedLimits(reference, operator, margin)).toEqual({ low, high, edges })
  })

  test('agree with the rule but for a rounding', () => {
    const numbers = [-3, -1, -0.31, -1e-9, 0, 1e-9, 0.31, 1, 3]
    for (const reference of numbers)
      for (const operator of OPERATORS)
        for (const margin of [0, 0.05, 0.2, 0.9, 1, 1.3, 2, 5])
          for (const target of [...numbers, ...numbers.map((n) => n * 1.003), ...numbers.map((n) => n / 7)]) {
            const limits = documentedLimits(reference, operator, margin)
            const near = [limits.low, limits.high].some((limit) => limit !== null && Math.abs(target - limit) < 1e-12)
            if (near) continue
            expect([reference, operator, target, margin, isWithin(limits, target)]).toEqual([
              ...[reference, operator, target, margin],
              passesDocumented(reference, operator, target, margin),
            ])
          }
  })

  test.each([
    ['==', 0.5, 1.5, 'allowed'],
    ['!=', 0.5, 1.5, 'outside'],
    ['<=', null, 1.5, 'allowed'],
    ['<', null, 1.5, 'forbidden'],
    ['>=', 0.5, null, 'allowed'],
    ['>', 0.5, null, 'forbidden'],
  ] as const)('%s bounds the side that it names', (operator, low, high, edges) => {
    expect(limitsAround(1, operator, 0.5)).toEqual({ low, high, edges })
  })
})

describe('logged numbers', () => {
  test.each([
    ['9.742', 9.742],
    [' 1e-05\n', 1e-5],
    ['-0.3', -0.3],
    ['+.5E+2', 50],
    ['7.', 7],
    ['007', 7],
    ['1_000.2_5', 1000.25],
    ['1e400', INF],
    ['nan', NAN],
    ['-NaN', NAN],
    ['inf', INF],
    ['-Infinity', -INF],
  ])('%j is %d', (text, value) => {
    expect(parseNumber(text)).toBe(value)
  })

  test.each([
    ...['', ' ', '.', '-', 'e5', '1e', '1e+', '0x10', '0b1', '1,5', '1 2', '1.2.3', '--1', '1__0', '_1', '1_', '1._5'],
    ...[
      '1e5_',
      'nan(ind)',
      '1.#INF',
      'infinit',
      'true',
      'null',
      '1f',
      '1\u0000',
      '１２',
      '1\u202e',
      `${'9'.repeat(2e5)}x`,
    ],
  ])('%.20j is no number', (text) => {
    expect(parseNumber(text)).toBeNull()
  })

  test('a negative zero stays one', () => {
    expect(parseNumber('-0.0')).toBe(-0)
  })
})
