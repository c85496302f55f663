import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { freshFolder } from '../../../runs/testing/tiny-suite.ts'
import {
  indexLimits,
  type LayerThresholds,
  layerThresholdsPath,
  readLayerThresholds,
  writeLayerThresholds,
} from './layer-thresholds.ts'

const rel_l2 = { direction: 'lower', value: 0.01, statistic: 'p99', count: 4 } as const
const row_cosine = { direction: 'higher', value: 0.999, statistic: 'p1', count: 4 } as const
const THRESHOLDS: LayerThresholds = {
  model: 'org/m',
  mode: 'generate',
  reference: 'torch:cpu',
  baseline: 'torch:cpu,dtype=bf16',
  created: '2026-01-01T00:00:00.000Z',
  environment: { node: 'v24' },
  layers: [
    { name: 'norm', shape: [1, 4, 2], metrics: { rel_l2, row_cosine } },
    { name: 'norm', shape: [1, 1, 2], metrics: { rel_l2 }, unlimited: { snr_db: 'infinite at step 1' } },
    { name: 'head', shape: null, metrics: { row_cosine } },
  ],
}

const pathIn = (folder: string) => layerThresholdsPath(folder, 'org--m')

test('what was written is read, a line for each layer', async () => {
  const path = pathIn(freshFolder())
  await writeLayerThresholds(path, THRESHOLDS)
  expect(path.endsWith('org--m-layer-thresholds.json')).toBe(true)
  expect(readFileSync(path, 'utf8').split('\n')).toHaveLength(6)
  expect(await readLayerThresholds(path)).toEqual(THRESHOLDS)
})

test('a layer is found by its name and shape, or where its shape is not known', () => {
  const [prompt, step, head] = THRESHOLDS.layers
  const find = indexLimits(THRESHOLDS.layers)
  expect(find('norm', [1, 4, 2])).toBe(prompt)
  expect(find('norm', [1, 1, 2])).toBe(step)
  expect(find('norm', [1, 8, 2])).toBeNull()
  expect(find('head', [1, 8, 2])).toBe(head)
})

test.each([Infinity, Number.NaN])('%s is no limit, neither written nor read', async (value) => {
  const path = pathIn(freshFolder())
  const layers = [{ name: 'norm', shape: null, metrics: { rel_l2: { ...rel_l2, value } } }]
  await expect(writeLayerThresholds(path, { ...THRESHOLDS, layers })).rejects.toThrow(
    `rel_l2 of norm is ${value}, which cannot be a limit`,
  )
  const { metrics } = layers[0]!
  const written = { ...metrics.rel_l2, value: String(value) }
  const content = {
    schema: 'assay/layer-thresholds@1',
    ...THRESHOLDS,
    layers: [{ ...layers[0], metrics: { rel_l2: written } }],
  }
  writeFileSync(path, JSON.stringify(content))
  await expect(readLayerThresholds(path)).rejects.toThrow('layers.0.metrics.rel_l2.value: ')
})

test.each([
  ['[]', 'has no schema, expected "assay/layer-thresholds@1"'],
  [JSON.stringify({ schema: 'assay/thresholds@1' }), 'has schema "assay/thresholds@1"'],
  [JSON.stringify({ schema: 'assay/layer-thresholds@1', ...THRESHOLDS, layers: [{ name: 'x' }] }), 'layers.0.shape'],
])('another file is refused: %s', async (text, problem) => {
  const path = pathIn(freshFolder())
  writeFileSync(path, text)
  await expect(readLayerThresholds(path)).rejects.toThrow(problem)
})
