import { describe, expect, test } from 'vitest'
import { encodeBigInts, encodeNumbers } from '../../tensors/encode.ts'
import type { PairLimits } from '../pairs/pair-statistics.ts'
import {
  allowance,
  classifySeverity,
  decodePairs,
  EQUAL,
  isWorse,
  measureSeverity,
  NON_FINITE,
  OVER,
  WITHIN,
} from './classify.ts'
import { finiteRange, Tallier } from './tally.ts'

const LIMITS: PairLimits = { rtol: 0.1, constant: 0.5, relL2: null, ulps: 0, ulpDType: null }
const [NaN_, Inf] = [Number.NaN, Number.POSITIVE_INFINITY]

describe('how two elements meet', () => {
  test.each<[string, number, number, number, number]>([
    ['the same', 1, 1, 0.1, EQUAL],
    ['zeros of both signs', 0, -0, 0, EQUAL],
    ['just at the limit', 1, 1.5, 0.5, WITHIN],
    ['the smallest error under the largest limit', 0, 5e-324, Number.MAX_VALUE, WITHIN],
    ['just over', 1, 1.5, 0.4999999999999999, OVER],
    ['any error where none is allowed', 0, 5e-324, 0, OVER],
    ['an error larger than any number, under a limit that is too', Number.MAX_VALUE, -Number.MAX_VALUE, Inf, OVER],
    ['NaN and NaN', NaN_, NaN_, 1, EQUAL],
    ['NaN and a number', NaN_, 1, Inf, NON_FINITE],
    ['a number and NaN', 1, NaN_, Inf, NON_FINITE],
    ['the same infinity', -Inf, -Inf, 0, EQUAL],
    ['different infinities', Inf, -Inf, Inf, NON_FINITE],
    ['an infinity and a number', 1, Inf, Inf, NON_FINITE],
    ['NaN as a limit', 1, 2, NaN_, OVER],
  ])('%s', (_, r, t, allowed, found) => {
    expect(classifySeverity(measureSeverity(r, t, t - r, allowed))).toBe(found)
  })

  test('from best to worst', () => {
    const pairs = [
      [1, 1],
      [1, 1.1],
      [1, 1.4],
      [1, 9],
      [1, NaN_],
    ] as const
    const found = pairs.map(([r, t]) => measureSeverity(r, t, t - r, 0.5))
    for (let i = 1; i < found.length; i++) {
      expect([isWorse(found[i]!, found[i - 1]!), isWorse(found[i - 1]!, found[i]!)]).toEqual([true, false])
    }
    expect(isWorse(NaN_, NaN_)).toBe(false)
  })

  test('a step of a coarse dtype is allowed where the rule says so', () => {
    const allowed = allowance({ rtol: 0, constant: 0, relL2: null, ulps: 1, ulpDType: 'float16' })
    expect([allowed(1), allowed(1024), allowed(0)]).toEqual([2 ** -10, 1, 2 ** -24])
  })
})

test('64-bit integers that are the same number in float64 are still not equal', () => {
  const raw = (values: bigint[]) => ({ dtype: 'int64', bytes: encodeBigInts('int64', values) }) as const
  const pairs = decodePairs(raw([2n ** 53n, 7n]), raw([2n ** 53n + 1n, 7n]), 2)
  const tallier = new Tallier({ ...LIMITS, rtol: 0, constant: 0 })
  expect([...tallier.add(pairs)].map(classifySeverity)).toEqual([OVER, EQUAL])
})

describe('counting', () => {
  const raw = (values: number[]) => ({ dtype: 'float64', bytes: encodeNumbers('float64', values) }) as const
  const reference = [1, 1, 10, 10, 0, NaN_, NaN_, Inf, Number.MAX_VALUE]
  const target = [1, 1.5, 13, 11, 5e-324, NaN_, 0, Inf, -Number.MAX_VALUE]
  const tallier = new Tallier(LIMITS)
  const severities = tallier.add(decodePairs(raw(reference), raw(target), 9))

  test('agrees with judging one by one', () => {
    const allowed = allowance(LIMITS)
    const one = reference.map((r, i) => measureSeverity(r, target[i]!, target[i]! - r, allowed(r)))
    expect([...severities]).toEqual(one)
    expect(tallier.result().counts).toEqual([3, 3, 2, 1])
  })

  test('sorts finite errors by size, those below normal numbers together', () => {
    const { bins, maxError, maxReference } = tallier.result()
    expect(bins).toEqual([
      { exponent: -1023, within: 1, over: 0 },
      { exponent: -1, within: 1, over: 0 },
      { exponent: 0, within: 1, over: 0 },
      { exponent: 1, within: 0, over: 1 },
    ])
    expect([maxError, maxReference]).toEqual([3, Number.MAX_VALUE])
  })

  test('goes on from piece to piece', () => {
    const pieces = new Tallier(LIMITS)
    for (const [i, r] of reference.entries()) pieces.add(decodePairs(raw([r]), raw([target[i]!]), 1))
    expect(pieces.result()).toEqual(tallier.result())
  })
})

test('the range of finite numbers', () => {
  expect(finiteRange([Float64Array.of(NaN_, 3, -Inf), Float64Array.of(-2, Inf)])).toEqual({ least: -2, most: 3 })
  expect(finiteRange([Float64Array.of(NaN_, Inf)])).toBeNull()
})
