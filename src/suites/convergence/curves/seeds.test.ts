import { describe, expect, test } from 'vitest'
import { randomFractions } from '../../../compare/diff/samples.ts'
import type { MetricRule, Operator, Recording } from '../../../domain/convergence.ts'
import type { CurveWindow, WindowJudgement } from './contract.ts'
import { judgeWindow } from './judge-window.ts'

const sigma = (comparison: Operator, sigmas = 3): MetricRule => ({
  ...{ comparison, warmUpSteps: 0, maxOutliers: 0 },
  tolerance: { kind: 'sigma', sigmas },
})
const ttest = (comparison: Operator, alpha = 0.01): MetricRule => ({
  ...{ comparison, warmUpSteps: 0, maxOutliers: 0 },
  tolerance: { kind: 'ttest', alpha },
})

function curve(values: readonly (number | string)[]): Recording {
  return new Map(values.map((value, step) => [step, { loss: { 0: String(value) } }]))
}

function judge(
  rule: MetricRule,
  samples: (number | string)[][],
  replays: (number | string)[][],
  more: Partial<CurveWindow> = {},
) {
  const [recorded, ...others] = samples.map(curve)
  const window = {
    rules: { loss: rule },
    recorded: recorded!,
    samples: others,
    replays: replays.map(curve),
    windows: 1,
  }
  return judgeWindow({ ...window, ...more })
}

const reasonOf = ({ series }: WindowJudgement) => series[0]!.reason

describe('sigma', () => {
  const SEEDS = [
    [2, 1.5],
    [2.2, 1.5],
    [1.8, 1.5],
  ]

  test('is a band around the mean of each step, as wide as few samples make it', () => {
    const judged = judge(sigma('=='), SEEDS, [[2, 1.5]])
    expect(judged.verdict).toBe('pass')
    const [series] = judged.series
    expect(series!.rule).toBe('==, 3 sigma of 3 seeds (7.64 deviations)')
    // Student's t with 4 degrees at the tail of 3 sigmas, one run beside three.
    const widened = 6.620205966815872 * Math.sqrt(4 / 3)
    expect(series!.points[0]!.low).toBeCloseTo(2 - 0.2 * widened, 9)
    // The second step has no deviation of its own, all steps together have one.
    expect(series!.points[1]!.high).toBeCloseTo(1.5 + Math.sqrt(0.02) * widened, 9)
    expect(series!.noise).toMatchObject([
      { step: 0, mean: 2 },
      { step: 1, mean: 1.5, deviation: 0 },
    ])
    expect(series!.noise![0]!.deviation).toBeCloseTo(0.2, 12)
  })

  test('has the side that the operator bounds', () => {
    expect(judge(sigma('<='), SEEDS, [[-9, -9]]).verdict).toBe('pass')
    expect(judge(sigma('<='), SEEDS, [[2, 9]]).verdict).toBe('fail')
    expect(judge(sigma('>='), SEEDS, [[9, 9]]).verdict).toBe('pass')
    expect(judge(sigma('>'), SEEDS, [[-9, 1.5]]).verdict).toBe('fail')
    expect(judge(sigma('=='), SEEDS, [[2, -9]]).verdict).toBe('fail')
    expect(judge(sigma('=='), SEEDS, [[2, 'nan']]).verdict).toBe('fail')
  })

  test('needs three samples and says how to get them', () => {
    for (const count of [1, 2]) {
      const judged = judge(sigma('<='), SEEDS.slice(0, count), [[2, 1.5]])
      expect(judged.verdict).toBe('error')
      expect(judged.problems[0]).toMatch(
        /^loss is judged by sigma 3, which needs at least 3 samples, but there (is 1|are 2); assay converge -g --seeds 5 gathers more$/,
      )
    }
  })

  test('never takes a loss that is ten times too high for noise, whatever is asked of few seeds', () => {
    const noisy = [1.99, 2, 2.01, 2.005, 1.995].map((value) => [value, value - 1])
    for (const sigmas of [6, 8, 12, 20]) {
      expect(judge(sigma('<=', sigmas), noisy.slice(0, 3), [[20, 10]])).toMatchObject({ verdict: 'error' })
      expect(judge(sigma('<=', sigmas), noisy.slice(0, 4), [[20, 10]])).toMatchObject({ verdict: 'fail' })
      expect(judge(sigma('<=', sigmas), noisy, [[2.01, 1.01]])).toMatchObject({ verdict: 'pass' })
    }
  })

  test('of seeds that make no difference is exact, and says so', () => {
    const still = [[0.1], [0.1], [0.1]]
    expect(judge(sigma('=='), still, [[0.1]])).toMatchObject({
      verdict: 'pass',
      series: [{ rule: '==, 3 sigma of 3 seeds that make no difference' }],
    })
    expect(judge(sigma('=='), still, [['0.10000000000000002']]).verdict).toBe('fail')
  })

  test.each([
    [[[1], ['nan'], [1]], 'sample 1 of the recording is not finite, NaN at step 0; gather again'],
    [[[1, 1], [1, 1], [1]], 'sample 2 of the recording is not finite, nothing at step 1; gather again'],
    [[['inf'], [1], [1]], 'the recording itself is not finite, Infinity at step 0; gather again'],
  ])('with a broken sample is an error', (samples, reason) => {
    const judged = judge(sigma('=='), samples, [[1, 1]])
    expect(judged.verdict).toBe('error')
    expect(reasonOf(judged)).toBe(reason)
  })

  test('does not learn from warm-up steps', () => {
    const rule = { ...sigma('=='), warmUpSteps: 1 }
    const judged = judge(
      rule,
      [
        [50, 1],
        [90, 1],
        [7, 1],
      ],
      [[0, 1]],
    )
    expect(judged.verdict).toBe('pass')
    expect(judged.series[0]!.points[1]).toMatchObject({ low: 1, high: 1 })
  })
})

describe('ttest', () => {
  const SEEDS = [
    [1, 3],
    [1.2, 3.2],
    [0.8, 2.8],
  ]

  test('compares the mean over the steps with the means of the seeds', () => {
    const judged = judge(ttest('=='), SEEDS, [[1, 3.4]])
    const [series] = judged.series
    // Means 2, 2.2, 1.8 and 2.2: 0.2 apart, deviation 0.2, one beside three.
    expect(series!.statistic!.value).toBeCloseTo(1 / Math.sqrt(4 / 3), 9)
    expect(series!.statistic!.limit).toBeCloseTo(9.924843200918, 6)
    expect(series).toMatchObject({
      verdict: 'pass',
      rule: '==, t test at 0.01, 3 seeds',
      statistic: { name: 't', count: 4 },
    })
    expect(series!.points[0]).toMatchObject({ low: null, high: null, passes: true })
  })

  test('fails on the side that the operator bounds, with both means', () => {
    const judged = judge(ttest('<='), SEEDS, [[9, 9]])
    expect(judged.verdict).toBe('fail')
    expect(reasonOf(judged)).toBe('mean 9 of 1 run, 2 ± 0.2 of 3 seeds: t 30.3, limit 6.96, which is a mean of 3.608')
    expect(judge(ttest('<='), SEEDS, [[-9, -9]]).verdict).toBe('pass')
    expect(judge(ttest('>='), SEEDS, [[9, 9]]).verdict).toBe('pass')
    expect(judge(ttest('>='), SEEDS, [[-9, -9]])).toMatchObject({ verdict: 'fail' })
    expect(judge(ttest('>='), SEEDS, [[-9, -9]]).series[0]!.statistic!.limit).toBeCloseTo(-6.964556734, 6)
    for (const far of [-9, 9]) expect(judge(ttest('=='), SEEDS, [[far, far]]).verdict).toBe('fail')
  })

  test('lets no replay hide behind another', () => {
    const apart = judge(ttest('=='), SEEDS, [
      [1, 3],
      [90, 90],
    ])
    expect(apart.verdict).toBe('fail')
    expect(reasonOf(apart)).toMatch(/^mean 90 of replay 2, 2 ± 0.2 of 3 seeds: t 381/)
    const opposite = [
      [90, 90],
      [-86, -86],
    ]
    for (const comparison of ['==', '<=', '>='] as const)
      expect(judge(ttest(comparison), SEEDS, opposite).verdict).toBe('fail')
    expect(judge(ttest('=='), SEEDS, SEEDS).verdict).toBe('pass')
  })

  test('numbers near the largest double are an error, not a pass', () => {
    const huge = [[1.7e308], [-1.7e308], [1.7e308]]
    for (const rule of [sigma('=='), ttest('==')]) {
      const judged = judge(rule, huge, [[0]])
      expect(judged.verdict).toBe('error')
      expect(reasonOf(judged)).toBe('the samples are too large to be averaged')
    }
    const large = [[1e200], [1.1e200], [0.9e200]]
    for (const rule of [sigma('=='), ttest('==')]) {
      expect(judge(rule, large, [[1e200]]).verdict).toBe('pass')
      expect(judge(rule, large, [[9e200]]).verdict).toBe('fail')
    }
  })

  test('shares its chance among series and windows', () => {
    const pair = (value: number) => new Map([[0, { loss: { a: String(value), b: String(value) } }]])
    const [recorded, ...samples] = [1, 1.1, 0.9].map(pair)
    const base = { rules: { loss: ttest('<=') }, recorded: recorded!, samples, replays: [pair(1)] }
    const [alone] = judgeWindow({ ...base, windows: 1 }).series
    const [shared] = judgeWindow({ ...base, windows: 5 }).series
    expect(alone!.rule).toBe('<=, t test at 0.01 shared by 2 series, 3 seeds')
    expect(shared!.rule).toBe('<=, t test at 0.01 shared by 10 series, 3 seeds')
    // Student's t with 2 degrees at 0.005 and at 0.001.
    expect(alone!.statistic!.limit).toBeCloseTo(9.924843, 5)
    expect(shared!.statistic!.limit).toBeCloseTo(22.32712, 4)
  })

  test('never takes a loss that is ten times too high for noise, whatever is asked of few seeds', () => {
    const noisy = [1.99, 2, 2.01, 2.005, 1.995].map((value) => [value, value - 1])
    for (const sigmas of [6, 8, 12, 20]) {
      expect(judge(sigma('<=', sigmas), noisy.slice(0, 3), [[20, 10]])).toMatchObject({ verdict: 'error' })
      expect(judge(sigma('<=', sigmas), noisy.slice(0, 4), [[20, 10]])).toMatchObject({ verdict: 'fail' })
      expect(judge(sigma('<=', sigmas), noisy, [[2.01, 1.01]])).toMatchObject({ verdict: 'pass' })
    }
  })

  test('of seeds that make no difference is exact', () => {
    const still = [
      [0.1, 0.2],
      [0.1, 0.2],
      [0.1, 0.2],
    ]
    expect(judge(ttest('=='), still, [[0.1, 0.2]]).verdict).toBe('pass')
    const judged = judge(ttest('=='), still, [[0.1, 0.2000001]])
    expect(judged.verdict).toBe('fail')
    expect(judged.series[0]!.statistic!.value).toBe(Number.POSITIVE_INFINITY)
    expect(judge(ttest('<='), still, [[0.1, 0.1]]).verdict).toBe('pass')
  })

  test('needs three samples, whole replays and finite numbers', () => {
    expect(judge(ttest('<='), SEEDS.slice(1), [[1, 3]]).verdict).toBe('error')
    expect(judge(ttest('<='), SEEDS, [[1]])).toMatchObject({ verdict: 'fail', coverage: { compared: 1, expected: 2 } })
    const judged = judge(ttest('<='), SEEDS, [
      [1, 'nan'],
      [1, 3],
    ])
    expect(judged.verdict).toBe('fail')
    expect(reasonOf(judged)).toBe('NaN at step 1 (replay 1: 1)')
    expect(judged.series[0]!.statistic!.count).toBe(4)
  })
})

describe('rates of alarms, by simulation', () => {
  const STEPS = 8

  interface Trial {
    readonly seeds?: number
    readonly replays?: number
    readonly shift?: number
    readonly stays?: number
    readonly rounds?: number
    /** Noise is small at the first step and of deviation 1 at the last. */
    readonly grows?: boolean
  }

  /** Curves that fall, with noise of deviation 1: a part of it stays with a seed, the rest is new at each step. */
  function alarms(
    rule: MetricRule,
    { seeds = 5, replays = 1, shift = 0, stays = 0, grows = false, ...more }: Trial,
  ): number {
    const rounds = more.rounds ?? (shift === 0 ? 2000 : 400)
    const noise = gaussian(20260101)
    let failed = 0
    for (let round = 0; round < rounds; round++) {
      const run = (by: number) => {
        const own = Math.sqrt(stays) * noise()
        return Array.from({ length: STEPS }, (_, i) => {
          const size = grows ? (i + 1) / STEPS : 1
          return 40 / (i + 1) + size * (own + Math.sqrt(1 - stays) * noise()) + by
        })
      }
      const samples = Array.from({ length: seeds }, () => run(0))
      const judged = judge(
        rule,
        samples,
        Array.from({ length: replays }, () => run(shift)),
      )
      if (judged.verdict === 'fail') failed++
    }
    return failed / rounds
  }

  test('ttest fails as many healthy runs as its alpha says', () => {
    for (const stays of [0, 1]) {
      const rate = alarms(ttest('==', 0.05), { stays })
      expect(rate).toBeLessThan(0.065)
      expect(rate).toBeGreaterThan(0.035)
    }
    expect(alarms(ttest('<=', 0.01), { seeds: 3, replays: 3, rounds: 1000 })).toBeLessThan(0.02)
  })

  test('ttest finds a shift of three deviations of single steps', () => {
    expect(alarms(ttest('<=', 0.01), { shift: 3 })).toBeGreaterThan(0.97)
    expect(alarms(ttest('>=', 0.01), { shift: -3 })).toBeGreaterThan(0.97)
    expect(alarms(ttest('<=', 0.01), { shift: 3, stays: 1, seeds: 10, replays: 3 })).toBeGreaterThan(0.9)
    expect(alarms(ttest('<=', 0.01), { shift: -3 })).toBe(0)
  })

  test('three sigmas fail few healthy windows', () => {
    for (const seeds of [3, 10]) expect(alarms(sigma('<='), { seeds, rounds: 1000 })).toBeLessThan(0.02)
    // Where a seed stays apart for the whole window, few samples say less than the degrees of freedom claim.
    expect(alarms(sigma('<='), { seeds: 5, stays: 1, rounds: 1000 })).toBeLessThan(0.03)
  })

  test('sigma fails few healthy windows where noise grows along them, and finds what is beyond it', () => {
    expect(alarms(sigma('=='), { seeds: 5, grows: true, rounds: 1000 })).toBeLessThan(0.02)
    expect(alarms(sigma('=='), { seeds: 5, grows: true, stays: 1, rounds: 1000 })).toBeLessThan(0.02)
    expect(alarms(sigma('=='), { seeds: 5, grows: true, shift: 8 })).toBeGreaterThan(0.9)
  })

  test('five replays fail hardly more healthy windows than one', () => {
    const one = alarms(sigma('=='), { seeds: 7, rounds: 1000 })
    const five = alarms(sigma('=='), { seeds: 7, replays: 5, rounds: 1000 })
    expect(five).toBeLessThan(Math.max(2 * one, 0.02))
    expect(alarms(sigma('=='), { seeds: 7, replays: 5, shift: 8 })).toBeGreaterThan(0.9)
  })

  test('sigma finds a shift of six deviations, and with many seeds one of four', () => {
    expect(alarms(sigma('<='), { shift: 6 })).toBeGreaterThan(0.9)
    expect(alarms(sigma('<='), { shift: 4, seeds: 20 })).toBeGreaterThan(0.9)
  })
})

/** By Box and Muller. */
function gaussian(seed: number): () => number {
  const random = randomFractions(seed)
  return () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}
