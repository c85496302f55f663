import { expect, test } from 'vitest'
import type { LearntLayers } from '../suites/layers/thresholds/learn-layer-thresholds.ts'
import { documentedLayerLines, layerThresholdLines } from './layer-threshold-lines.ts'

const limit = (value: number) => ({ direction: 'lower', value, statistic: 'p99', count: 3 }) as const
const why = 'only the reference computes it'
const unmeasured = { abs_diff: { why }, cos_sim: { why }, cos_sim_avg: { why }, cos_sim_mean: { why } }
const LEARNT: LearntLayers = {
  model: 'org--m',
  place: 'output',
  files: 1,
  thresholds: {
    model: 'org/m',
    mode: null,
    reference: null,
    baseline: null,
    created: '',
    environment: {},
    layers: [
      { name: 'norm', shape: [1, 2], metrics: { rel_l2: limit(0.5) } },
      { name: 'mask', shape: null, metrics: {}, unlimited: { rel_l2: 'infinite, which cannot be a limit' } },
      { name: 'lone', shape: [2], metrics: {} },
    ],
  },
  documented: [
    { name: 'norm', values: { abs_diff: 5, cos_sim: 0.25, cos_sim_avg: 0.5, cos_sim_mean: 0.5 }, cosSim: 'signs' },
    { name: 'lone', values: unmeasured, cosSim: 'signs' },
  ],
  notes: [],
  paths: [],
}

test('lines are those of the other tool, and limits under their own names', () => {
  expect(documentedLayerLines(LEARNT, ['abs_diff', 'cos_sim', 'cos_sim_mean', 'rel_l2'])).toEqual([
    'Layer norm avg abs_diff = 5',
    'Layer lone avg abs_diff = not measured',
    'Layer norm avg cos_sim = 0.25',
    'Layer lone avg cos_sim = not measured',
    'Layer norm cos_sim_mean = 0.5',
    'Layer lone cos_sim_mean = not measured',
    'Layer norm (1, 2) p99 rel_l2 = 0.5',
    'Layer mask rel_l2 = infinite, which cannot be a limit',
    'Layer lone (2) rel_l2 = not measured',
  ])
})

test('beside them stands what the numbers are, and why one was not measured', () => {
  expect(layerThresholdLines(LEARNT, ['abs_diff'])).toEqual([
    'found 1 file of layers in output',
    'abs_diff: no average but the L2 norm of all differences of a layer, so it grows',
    'with their number; rel_l2 and rmse do not',
    '',
    '  limits of layers  shape     rel_l2 p99',
    '  norm              (1, 2)           0.5',
    '  mask                      not measured',
    '  lone              (2)     not measured',
    '',
    'note: limits are learnt from 3 values or fewer, so p99 and p1 are about the',
    'worst of them; measure more steps or runs',
    'note: abs_diff of lone is not measured: only the reference computes it',
  ])
})
