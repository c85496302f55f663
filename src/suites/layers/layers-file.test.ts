import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { freshFolder } from '../../runs/testing/tiny-suite.ts'
import { type LayerRow, readLayersFile, writeLayersFile } from './layers-file.ts'

const LAYER: LayerRow = {
  name: 'model.norm',
  step: 0,
  shape: [1, 2],
  reference: 'float32',
  target: 'bfloat16',
  count: 2,
  metrics: { max_abs: 0.5, rel_l2: Infinity, cosine: null },
}
const LONE: LayerRow = { ...LAYER, name: 'extra', step: 3, target: null, count: 0, metrics: {}, problem: 'alone' }
const FILE = { model: 'm', mode: 'model-forward', reference: 'torch:cpu', target: 't', layers: [LAYER, LONE] }

test('what was written is read, infinities and numbers that were not measured too', async () => {
  const path = join(freshFolder(), 'layers.json')
  await writeLayersFile(path, FILE)
  expect(readFileSync(path, 'utf8').split('\n')).toHaveLength(5)
  expect(await readLayersFile(path)).toEqual(FILE)
})

test.each([
  ['[]', 'has no schema, expected "assay/layers@1"'],
  ['{"schema":"assay/layers@1"}', 'model: Invalid input'],
  [JSON.stringify({ schema: 'assay/layers@1', ...FILE, layers: [{ ...LAYER, step: -1 }] }), 'layers.0.step: '],
])('another file is refused: %s', async (text, problem) => {
  const path = join(freshFolder(), 'layers.json')
  writeFileSync(path, text)
  await expect(readLayersFile(path)).rejects.toThrow(problem)
})
