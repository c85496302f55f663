import { describe, expect, test } from 'vitest'
import type { MetricRule, Operator, Recording } from '../../../domain/convergence.ts'
import type { CurveWindow, JudgedSeries } from './contract.ts'
import { judgeWindow } from './judge-window.ts'

type Values = Readonly<Record<string, string | number>>

/** Steps from 5 on, each with a loss or with metrics of their own. */
function recording(values: readonly (string | number | Readonly<Record<string, Values>>)[], first = 5): Recording {
  return new Map(values.map((value, i) => [first + i, metricsOf(value)]))
}

function metricsOf(value: string | number | Readonly<Record<string, Values>>) {
  const metrics = typeof value === 'object' ? value : { loss: { 0: value } }
  return Object.fromEntries(
    Object.entries(metrics).map(([metric, labels]) => [
      metric,
      Object.fromEntries(Object.entries(labels).map(([label, text]) => [label, String(text)])),
    ]),
  )
}

function rule(
  comparison: Operator,
  tolerance: MetricRule['tolerance'],
  more: Partial<Pick<MetricRule, 'warmUpSteps' | 'maxOutliers'>> = {},
): MetricRule {
  return { comparison, tolerance, warmUpSteps: 0, maxOutliers: 0, ...more }
}

const isclose = (margin: number) => ({ kind: 'isclose', margin }) as const
const AT_MOST = rule('<=', isclose(0.1))

function judge(recorded: Recording, replay: Recording | Recording[], more: Partial<CurveWindow> = {}) {
  const replays = Array.isArray(replay) ? replay : [replay]
  return judgeWindow({ rules: { loss: AT_MOST }, recorded, samples: [], replays, windows: 1, ...more })
}

function only(series: readonly JudgedSeries[]): JudgedSeries {
  expect(series).toHaveLength(1)
  return series[0]!
}

describe('a window', () => {
  test('that is replayed as it was recorded passes, with its limits', () => {
    const judged = judge(recording(['5.840', '5.477', '5.344']), recording(['5.840', '5.477', '5.344']))
    expect(judged).toMatchObject({ verdict: 'pass', problems: [], coverage: { compared: 3, expected: 3 } })
    const series = only(judged.series)
    expect(series).toMatchObject({ name: 'loss', metric: 'loss', label: '0', verdict: 'pass', rule: '<=, margin 0.1' })
    expect(series.points[0]).toEqual({
      step: 5,
      replay: 0,
      reference: 5.84,
      target: 5.84,
      low: null,
      high: 5.84 / 0.9,
      edges: 'allowed',
      passes: true,
      isWarmUp: false,
    })
    expect(series.beyond).toEqual({ count: 0, of: 3, allowed: 0 })
    expect(series.reason).toBeUndefined()
  })

  test('with one loss that is too high fails and says where', () => {
    const judged = judge(recording([1, 1, 1]), recording([1, 1.2, 1.3]))
    expect(judged).toMatchObject({ verdict: 'fail', problems: [], coverage: { compared: 3, expected: 3 } })
    expect(only(judged.series).reason).toBe('2 of 3 beyond; worst at step 7: 1.3, limit ≤ 1.111')
  })

  test('labels are series of their own, and one failure hides no other', () => {
    const labels = (MLM: number, NSP: number, accuracy: number) => ({ loss: { MLM, NSP }, accuracy: { 0: accuracy } })
    const rules = { loss: AT_MOST, accuracy: rule('>=', isclose(0.1)) }
    const recorded = recording([labels(9, 0.7, 0.5), labels(8, 0.6, 0.6)])
    const judged = judge(recorded, recording([labels(9, 0.9, 0.5), labels(8, 0.9, 0.1)]), { rules })
    expect(judged.verdict).toBe('fail')
    expect(judged.series.map(({ name, verdict }) => [name, verdict])).toEqual([
      ['loss.MLM', 'pass'],
      ['loss.NSP', 'fail'],
      ['accuracy', 'fail'],
    ])
    expect(judged.series[1]!.beyond.count).toBe(2)
  })

  test('metrics without a rule and steps beyond the window are ignored', () => {
    const recorded = recording([{ loss: { 0: 1 }, lr: { 0: 1 } }])
    const replay = recording([{ loss: { 0: 1 }, lr: { 0: 99 }, other: { 0: 'x' } }, 99, 'nan'])
    expect(judge(recorded, replay)).toMatchObject({
      verdict: 'pass',
      problems: [],
      coverage: { compared: 1, expected: 1 },
    })
  })

  test('steps that were not logged fail it, with how many were compared', () => {
    const judged = judge(recording([4, 3, 2, 1]), recording([4, 3]))
    expect(judged).toMatchObject({ verdict: 'fail', coverage: { compared: 2, expected: 4 } })
    expect(judged.problems).toEqual(['steps 7 and 8 were not logged, compared 2 of 4'])
    expect(only(judged.series)).toMatchObject({ verdict: 'fail', reason: '2 of 4 values are missing' })
  })

  test('a replay that logs nothing of it cannot be judged', () => {
    for (const replay of [recording([]), recording([1, 1], 90)]) {
      const judged = judge(recording([3, 2, 1]), replay)
      expect(judged).toMatchObject({ verdict: 'error', coverage: { compared: 0, expected: 3 } })
      expect(judged.problems).toEqual(['nothing was logged for steps 5 to 7, compared 0 of 3'])
    }
  })

  test('a metric that is missing on a step fails by name', () => {
    const both = { loss: { 0: 1 }, accuracy: { 0: 0.5 } }
    const rules = { loss: AT_MOST, accuracy: rule('>=', isclose(0.1)) }
    const judged = judge(recording([both, both]), recording([both, { loss: { 0: 1 } }]), { rules })
    expect(judged).toMatchObject({ verdict: 'fail', coverage: { compared: 2, expected: 2 } })
    expect(judged.problems).toEqual(['accuracy was not logged at step 6'])
    expect(judged.series.map(({ verdict }) => verdict)).toEqual(['pass', 'fail'])
  })

  test('a metric that the recording itself leaves out at a step is not asked for there', () => {
    const rules = { loss: AT_MOST, accuracy: rule('>=', isclose(0.1)) }
    const every = [
      { loss: { 0: 1 }, accuracy: { 0: 0.5 } },
      { loss: { 0: 1 } },
      { loss: { 0: 1 }, accuracy: { 0: 0.6 } },
    ]
    const judged = judge(recording(every), recording(every), { rules })
    expect(judged.verdict).toBe('pass')
    expect(judged.series[1]!.points.map(({ step }) => step)).toEqual([5, 7])
  })

  test('a changed set of labels fails by name, with both sets', () => {
    const recorded = recording([{ loss: { MLM: 1, NSP: 1 } }, { loss: { MLM: 1, NSP: 1 } }])
    const renamed = judge(recorded, recording([{ loss: { MLM: 1, SOP: 1 } }, { loss: { MLM: 1, SOP: 1 } }]))
    expect(renamed.verdict).toBe('fail')
    expect(renamed.problems).toEqual(['loss has the labels MLM and SOP instead of MLM and NSP, at steps 5 and 6'])
    const more = judge(recorded, recording([{ loss: { MLM: 1, NSP: 1 } }, { loss: { MLM: 1, NSP: 1, SOP: 1 } }]))
    expect(more.verdict).toBe('fail')
    expect(more.problems).toEqual(['loss has the labels MLM, NSP and SOP instead of MLM and NSP, at step 6'])
    expect(more.series.map(({ verdict }) => verdict)).toEqual(['pass', 'pass'])
  })

  test('a metric with a rule that was never recorded cannot be judged', () => {
    const judged = judge(recording([1]), recording([1]), { rules: { loss: AT_MOST, perplexity: AT_MOST } })
    expect(judged.verdict).toBe('error')
    expect(judged.problems).toEqual(['perplexity has a rule but was not recorded; gather again'])
    expect(judged.series).toHaveLength(1)
  })

  test.each([
    ['no rule', { rules: {} }, 'no metric has a rule, so there is nothing to judge'],
    ['no recording', { recorded: recording([]) }, 'the recording has no steps; gather again'],
    ['no replay', { replays: [] }, 'nothing was replayed'],
  ])('with %s is an error', (_, more, problem) => {
    expect(judge(recording([1]), recording([1]), more)).toMatchObject({ verdict: 'error', problems: [problem] })
  })

  test('what is no number fails by name and keeps terminals whole', () => {
    const judged = judge(recording([1, 1, 1]), recording(['1', 'oops\u001b[2J', '1']))
    expect(judged).toMatchObject({ verdict: 'fail', coverage: { compared: 2, expected: 3 } })
    expect(judged.problems).toEqual(['loss is not a number at step 6: "oops\\x1b[2J"'])
  })

  test.each(['nan', '-inf', '1e999'])('%s fails every operator and is no outlier', (text) => {
    for (const comparison of ['==', '!=', '<=', '<', '>=', '>'] as const) {
      const rules = { loss: rule(comparison, isclose(2), { maxOutliers: 0.9 }) }
      const judged = judge(recording([1, 1]), recording([1, text]), { rules })
      expect(judged.verdict).toBe('fail')
      expect(only(judged.series).reason).toMatch(/(NaN|Infinity) at step 6/)
    }
  })

  test.each([
    ['nan', 'NaN'],
    ['inf', 'Infinity'],
    ['x', '"x"'],
  ])('a recording with %s is an error, whatever the replay says', (text, shown) => {
    for (const replay of [text, '1']) {
      const judged = judge(recording([1, text]), recording([1, replay]))
      expect(judged.verdict).toBe('error')
      const reason = `the recording itself is not finite, ${shown} at step 6; gather again`
      expect(only(judged.series).reason).toContain(reason)
      expect(only(judged.series).points[1]?.passes ?? false).toBe(false)
    }
  })

  test('hostile names are names like any other', () => {
    const names = JSON.parse('{"__proto__": {"constructor": "1"}, "toString": {"__proto__": "2"}}')
    const rules = JSON.parse('{"__proto__": 0, "toString": 0, "valueOf": 0}')
    for (const name of Object.keys(rules)) Object.defineProperty(rules, name, { value: AT_MOST, enumerable: true })
    const judged = judge(new Map([[0, names]]), new Map([[0, names]]), { rules })
    expect(judged.series.map(({ name, verdict }) => `${name} ${verdict}`)).toEqual([
      '__proto__.constructor pass',
      'toString.__proto__ pass',
    ])
    expect(judged.problems).toEqual(['valueOf has a rule but was not recorded; gather again'])
    expect(judge(new Map([[0, names]]), new Map([[0, {}]]), { rules }).problems).toContain(
      'toString was not logged at step 0',
    )
  })

  test('several replays are all judged, and named', () => {
    const judged = judge(recording([2, 1]), [recording([2, 1]), recording([2]), recording([9, 1])])
    expect(judged).toMatchObject({ verdict: 'fail', coverage: { compared: 5, expected: 6 } })
    expect(judged.problems).toEqual(['replay 2: step 6 was not logged, compared 1 of 2'])
    expect(only(judged.series).points.filter(({ passes }) => !passes)).toMatchObject([
      { replay: 2, step: 5, target: 9 },
    ])
  })

  test('says which of several replays is beyond, by its name', () => {
    const replays = [recording([2, 1, 1]), recording([3, 2, 1]), recording([2, 5, 1]), recording([Number.NaN, 1, 1])]
    const replayNames = ['seed 21', 'seed 22', 'seed 23', 'seed 24']
    expect(only(judge(recording([2, 1, 1]), replays, { replayNames }).series).reason).toBe(
      'NaN at step 5 (seed 24: 1); 3 of 12 beyond (seed 22: 2, seed 23: 1); worst at step 6 of seed 23: 5, limit ≤ 1.111',
    )
    const many = judge(
      recording([1]),
      Array.from({ length: 10 }, () => recording([2])),
    )
    expect(only(many.series).reason).toContain('replay 8: 1, 2 more); worst at step 5 of replay 1: 2')
  })

  test('names the one replay that a t-test does not excuse', () => {
    const recorded = recording([1, 1])
    const samples = [1.01, 0.99, 1.02, 0.98, 1].map((mean) => recording([mean, mean]))
    const replays = [1, 1.01, 0.99, 1.5].map((mean) => recording([mean, mean]))
    const rules = { loss: rule('==', { kind: 'ttest', alpha: 0.01 }) }
    const replayNames = ['seed 1', 'seed 2', 'seed 3', 'seed 4']
    const { series } = judge(recorded, replays, { rules, samples, replayNames })
    expect(only(series).reason).toMatch(/^mean 1\.5 of seed 4, 1 ± /)
  })

  test('of ten thousand steps with most of them missing is said in one line', () => {
    const values = Array.from({ length: 10_000 }, () => 1)
    const replay = new Map([...recording(values)].filter(([step]) => step % 2 === 0))
    const { problems } = judge(recording(values), replay)
    expect(problems).toEqual(['steps 5, 7, 9, 11, 13 and 4995 more were not logged, compared 5000 of 10000'])
  })
})

describe('warm-up steps and outliers', () => {
  const warm = { loss: rule('<=', isclose(0.1), { warmUpSteps: 2 }) }

  test('the first steps may be anything finite', () => {
    const judged = judge(recording([1, 1, 1]), recording([50, 9, 1]), { rules: warm })
    expect(judged.verdict).toBe('pass')
    expect(only(judged.series)).toMatchObject({
      rule: '<=, margin 0.1, first 2 steps are warm-up',
      beyond: { count: 0, of: 1 },
    })
    expect(only(judged.series).points.map(({ isWarmUp }) => isWarmUp)).toEqual([true, true, false])
  })

  test('but not NaN, and they must be there', () => {
    expect(only(judge(recording([1, 1, 1]), recording(['nan', 1, 1]), { rules: warm }).series)).toMatchObject({
      verdict: 'fail',
      reason: 'NaN at step 5',
    })
    expect(judge(recording([1, 1, 1]), recording([1, 1], 6), { rules: warm }).problems).toEqual([
      'step 5 was not logged, compared 2 of 3',
    ])
  })

  test('what comes after them counts', () => {
    expect(judge(recording([1, 1, 1]), recording([1, 1, 9]), { rules: warm }).verdict).toBe('fail')
  })

  test('a window of nothing else proves nothing', () => {
    const judged = judge(recording([1, 1]), recording([1, 1]), { rules: warm })
    expect(judged.verdict).toBe('error')
    expect(only(judged.series).reason).toBe('all 2 recorded steps are warm-up; lower warmup_steps or record more')
  })

  test.each([
    [0.29, 29, 'pass'],
    [0.29, 30, 'fail'],
    [0.005, 1, 'fail'],
    [0.999, 100, 'fail'],
  ])('a part of %d of 100 steps lets %i be beyond: %s', (maxOutliers, count, verdict) => {
    const values = Array.from({ length: 100 }, (_, i) => (i < count ? 2 : 1))
    const rules = { loss: rule('<=', isclose(0.1), { maxOutliers }) }
    const judged = judge(recording(values.map(() => 1)), recording(values), { rules })
    expect(judged.verdict).toBe(verdict)
    expect(only(judged.series).beyond).toEqual({ count, of: 100, allowed: Math.floor(maxOutliers * 100 + 1e-9) })
  })
})

describe('kinds', () => {
  const verdictOf = (kind: MetricRule, reference: string, target: string) =>
    judge(recording([reference]), recording([target]), { rules: { loss: kind } }).verdict

  test.each([
    ['margin', '<=', '1', '1.05', '1.0501'],
    ['margin', '>=', '1', '0.95', '0.9499'],
    ['margin', '<', '1', '1.0499', '1.05'],
    ['margin', '>', '1', '0.9501', '0.95'],
    ['margin', '==', '1', '0.95', '0.9499'],
    ['margin', '==', '1', '1.05', '1.0501'],
    ['margin', '!=', '1', '1.0501', '1.05'],
    ['margin', '<=', '-1', '-0.95', '-0.9499'],
    ['margin', '>=', '-1', '-1.05', '-1.0501'],
    ['margin', '<=', '0', '0', '1e-9'],
    ['rel', '==', '2', '2.1', '2.1001'],
    ['rel', '<=', '-2', '-1.9', '-1.8999'],
    ['abs', '==', '0', '-0.05', '-0.0501'],
    ['abs', '<=', '0', '0.05', '0.0501'],
    ['abs', '<=', '0.3', '-9', '0.3501'],
    ['abs', '>=', '0', '-0.05', '-0.0501'],
    ['abs', '!=', '7', '7.06', '7.04'],
  ] as const)('%s %s from %s: %s passes, %s fails', (kind, comparison, reference, healthy, faulty) => {
    expect(verdictOf(rule(comparison, { kind, margin: 0.05 }), reference, healthy)).toBe('pass')
    expect(verdictOf(rule(comparison, { kind, margin: 0.05 }), reference, faulty)).toBe('fail')
  })

  test('exact is equality of doubles, whatever the text and the operator', () => {
    for (const comparison of ['==', '<=', '>='] as const) {
      const exact = rule(comparison, { kind: 'exact' })
      expect(verdictOf(exact, '0.5', '5e-1')).toBe('pass')
      expect(verdictOf(exact, '-0.0', '0')).toBe('pass')
      expect(verdictOf(exact, '0.1', '0.10000000000000001')).toBe('pass')
      expect(verdictOf(exact, '0.1', '0.10000000000000002')).toBe('fail')
      expect(verdictOf(exact, '0.1', '0.09999999999999999')).toBe('fail')
      expect(verdictOf(exact, '1', 'nan')).toBe('fail')
    }
    const judged = judge(recording(['0.1']), recording(['0.10000000000000002']), {
      rules: { loss: rule('<=', { kind: 'exact' }) },
    })
    expect(only(judged.series)).toMatchObject({
      rule: 'exactly equal, not only <=',
      reason: '1 of 1 beyond; worst at step 5: 0.10000000000000002, limit = 0.1',
    })
  })

  test('the documented margin that a rounding misses says so', () => {
    const judged = judge(recording([1]), recording([0.95]), { rules: { loss: rule('>=', isclose(0.05)) } })
    expect(only(judged.series).reason).toBe(
      '1 of 1 beyond; worst at step 5: 0.95, limit ≥ 0.95, missed by a rounding error',
    )
  })
})
