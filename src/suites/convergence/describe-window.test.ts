import { expect, test } from 'vitest'
import type { MetricRule, Recording } from '../../domain/convergence.ts'
import { judgeWindow } from './curves/judge-window.ts'
import { describeSeries, traceCurve } from './describe-window.ts'

const EXACT: MetricRule = { comparison: '==', tolerance: { kind: 'exact' }, warmUpSteps: 0, maxOutliers: 0 }

function judged(rule: MetricRule, recorded: readonly number[], ...replays: (readonly number[])[]) {
  const curve = (values: readonly number[]): Recording =>
    new Map(values.map((value, step) => [step, { loss: { 0: String(value) } }]))
  const window = { rules: { loss: rule }, samples: [], windows: 1 }
  return judgeWindow({ ...window, recorded: curve(recorded), replays: replays.map(curve) }).series
}

function metricsOf(recorded: readonly number[], replayed: readonly number[]) {
  return describeSeries(judged(EXACT, recorded, replayed)[0]!).metrics
}

test('reason, worst places and curve agree on the worst step: by what was allowed there', () => {
  // Allowed are 10, 1 and 0.1; beyond by 5, 2 and 0.1 of it.
  const rule: MetricRule = { ...EXACT, tolerance: { kind: 'rel', margin: 0.1 } }
  const [series] = judged(rule, [100, 10, 1], [115, 13, 1.2])
  expect(series!.reason).toContain('worst at step 1: 13, limit 9 … 11')
  expect(describeSeries(series!).worst.map(({ index }) => index)).toEqual([[1], [2], [0]])
  expect(traceCurve(series!, 1).furthest).toEqual({ step: 1, replay: 0 })
})

test('a long curve keeps the step to be looked at', () => {
  const recorded = Array.from({ length: 5000 }, () => 1)
  const [series] = judged(EXACT, recorded, recorded.with(4321, 2))
  const { steps, furthest } = traceCurve(series!, 1)
  expect([steps.length, steps.includes(4321), furthest]).toEqual([513, true, { step: 4321, replay: 0 }])
})

test('relative differences are those from values that are not zero', () => {
  expect(metricsOf([0, 2, 4], [1, 2.5, 4])).toMatchObject([
    { name: 'max_rel', value: 0.25, count: 2 },
    { name: 'max_abs', value: 1, count: 3 },
  ])
})

test('from nothing but zeros there is none', () => {
  expect(metricsOf([0, 0], [0.5, 0])).toMatchObject([
    { name: 'max_rel', value: null, reason: 'every recorded value is zero', count: 0 },
    { name: 'max_abs', value: 0.5 },
  ])
})

test('from NaN there are none at all', () => {
  expect(metricsOf([1, 1], [Number.NaN, 1])).toEqual([])
})
