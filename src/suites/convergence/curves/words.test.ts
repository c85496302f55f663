import { describe, expect, test } from 'vitest'
import type { MetricRule, MetricTolerance, Operator } from '../../../domain/convergence.ts'
import type { JudgedPoint } from './contract.ts'
import { limitText, targetText } from './point-words.ts'
import { describeMetricRule, refuseRule } from './rule-words.ts'
import { stepList } from './step-list.ts'

function rule(comparison: Operator, tolerance: MetricTolerance, more: Partial<MetricRule> = {}): MetricRule {
  return { comparison, tolerance, warmUpSteps: 0, maxOutliers: 0, ...more }
}

const margin = (size: number) => ({ kind: 'isclose', margin: size }) as const
const [SIGMA, TTEST, EXACT] = [{ kind: 'sigma', sigmas: 3 }, { kind: 'ttest', alpha: 0.01 }, { kind: 'exact' }] as const

describe('a rule is refused', () => {
  test.each([
    ['a negative margin', rule('<', margin(-0.1)), /^margin is -0.1; give a number of at least 0$/],
    ['a margin that is no number', rule('==', { kind: 'rel', margin: Number.NaN }), /margin is NaN/],
    ['an infinite margin', rule('==', { kind: 'abs', margin: Number.POSITIVE_INFINITY }), /margin is Infinity/],
    ['a part of everything', rule('<=', { kind: 'rel', margin: 1 }), /margin is 1; .* let nearly everything pass/],
    ['more than everything', rule('<=', { kind: 'margin', margin: 10 }), /margin is 10; give a fraction below 1/],
    ['no sigma', rule('==', { kind: 'sigma', sigmas: 0 }), /sigmas is 0; give a number above 0 and at most 20/],
    ['too many sigmas', rule('==', { kind: 'sigma', sigmas: 21 }), /sigmas is 21/],
    ['an alpha of 0', rule('==', { kind: 'ttest', alpha: 0 }), /alpha is 0; give a probability above 0 and below 0.5/],
    ['an alpha of 0.5', rule('==', { kind: 'ttest', alpha: 0.5 }), /alpha is 0.5/],
    ['sigma and !=', rule('!=', SIGMA), /sigma checks whether .* != would reverse that/],
    ['ttest and !=', rule('!=', TTEST), /ttest checks/],
    ['exact and !=', rule('!=', EXACT), /exact requires equality, which != excludes; use ==/],
    ['exact and <', rule('<', EXACT), /which < excludes/],
    ['half a warm-up step', rule('==', margin(0), { warmUpSteps: 0.5 }), /warmup_steps is 0.5; give a whole number/],
    ['a negative warm-up', rule('==', margin(0), { warmUpSteps: -1 }), /warmup_steps is -1/],
    ['a budget of everything', rule('==', margin(0), { maxOutliers: 1 }), /max_outliers is 1; .* let everything pass/],
    ['a budget that is no number', rule('==', margin(0), { maxOutliers: Number.NaN }), /max_outliers is NaN/],
    ['a budget of a mean', rule('==', TTEST, { maxOutliers: 0.1 }), /max_outliers has no meaning for ttest/],
  ])('for %s', (_, refused, words) => {
    expect(refuseRule(refused)).toMatch(words)
  })

  test('and not where it makes sense', () => {
    for (const comparison of ['==', '!=', '<=', '<', '>=', '>'] as const)
      for (const size of [0, 0.05, 1, 7]) expect(refuseRule(rule(comparison, margin(size)))).toBeNull()
    for (const tolerance of [SIGMA, TTEST, EXACT]) expect(refuseRule(rule('<=', tolerance))).toBeNull()
    expect(refuseRule(rule('>', SIGMA, { warmUpSteps: 3, maxOutliers: 0.1 }))).toBeNull()
  })
})

describe('in words', () => {
  test.each([
    [rule('<=', margin(0.2)), '<=, margin 0.2'],
    [rule('<', margin(0.2)), '<, without a margin'],
    [rule('>=', { kind: 'margin', margin: 0.05 }), '>=, beyond by up to 0.05·|r|'],
    [rule('==', { kind: 'rel', margin: 1e-6 }), '==, within 1e-6·|r|'],
    [rule('!=', { kind: 'abs', margin: 0.5 }), '!=, farther than 0.5'],
    [rule('==', EXACT), 'exactly equal'],
    [rule('<=', EXACT, { warmUpSteps: 1 }), 'exactly equal, not only <=, first step is warm-up'],
    [
      rule('<=', SIGMA, { maxOutliers: 0.07 }),
      '<=, 3 sigma of 5 seeds (5.26 deviations, 2 replays share the chance), 7 % may be beyond the limit',
    ],
    [rule('<=', TTEST), '<=, t test at 0.01 shared by 4 series, 5 seeds'],
  ])('%#: a rule', (one, words) => {
    expect(describeMetricRule(one, { seeds: 5, areSeedsEqual: false, shares: 4, replays: 2 })).toBe(words)
  })

  test.each([
    [[7], 'step 7'],
    [[8, 7, 7], 'steps 7 and 8'],
    [[5, 6, 7, 8, 12], 'steps 5 to 8 and 12'],
    [[1, 3, 5, 7, 9, 11, 13, 14, 15], 'steps 1, 3, 5, 7, 9 and 4 more'],
  ])('steps %j', (steps, words) => {
    expect(stepList(steps)).toBe(words)
  })
})

const POINT: JudgedPoint = {
  ...{ step: 1, replay: 0, reference: 1, target: 1, isWarmUp: false, passes: true },
  ...{ low: null, high: null, edges: 'allowed' },
}
const point = (more: Partial<JudgedPoint>): JudgedPoint => ({ ...POINT, ...more })

describe('a point', () => {
  test.each([
    [{ high: 1 / 0.95 }, '≤ 1.053'],
    [{ low: 0.95 }, '≥ 0.95'],
    [{ high: 1, edges: 'forbidden' }, '< 1'],
    [{ low: 1, edges: 'forbidden' }, '> 1'],
    [{ low: 0.95, high: 1 / 0.95 }, '0.95 … 1.053'],
    [{ low: 0.95, high: 1 / 0.95, edges: 'outside' }, 'not 0.95 … 1.053'],
    [{ low: -2, high: -0.5, edges: 'forbidden' }, 'between -2 … -0.5'],
    [{ low: 0.1, high: 0.1, target: 0.1 }, '= 0.1'],
    [{ low: 0, high: 0, edges: 'outside' }, '≠ 0'],
    [{}, 'no limit'],
    [{ edges: 'outside', passes: false }, 'nothing'],
    [{ isWarmUp: true }, 'any finite number'],
    [{ high: 1.0000001, target: 1.0000002, passes: false }, '≤ 1.0000001'],
    [{ low: 0.075551, high: 0.075552, target: 0.0756, passes: false }, '0.075551 … 0.075552'],
    [{ low: 0.95, target: 0.95, passes: false }, '≥ 0.95, missed by a rounding error'],
    [{ high: 1, target: Number.NaN, passes: false }, '≤ 1'],
  ] as const)('%j may be %s', (more, words) => {
    expect(limitText(point(more))).toBe(words)
  })
})

test('a target looks different from both of its limits', () => {
  const near = point({ low: 6.8801, high: 6.8803, target: 6.88009, passes: false })
  expect(targetText(near)).toBe('6.88009, limit 6.8801 … 6.8803')
})
