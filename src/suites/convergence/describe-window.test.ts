import { expect, test } from 'vitest'
import { judgeWindow } from '../../compare/convergence/judge-window.ts'
import type { MetricRule, Recording } from '../../domain/convergence.ts'
import { outputOf } from './describe-window.ts'

const EXACT: MetricRule = { comparison: '==', tolerance: { kind: 'exact' }, warmUpSteps: 0, maxOutliers: 0 }

function metricsOf(recorded: readonly number[], replayed: readonly number[]) {
  const curve = (values: readonly number[]): Recording =>
    new Map(values.map((value, step) => [step, { loss: { 0: String(value) } }]))
  const window = { rules: { loss: EXACT }, samples: [], windows: 1 }
  const { series } = judgeWindow({ ...window, recorded: curve(recorded), replays: [curve(replayed)] })
  return outputOf(series[0]!).metrics
}

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
