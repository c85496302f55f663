import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { buildModel } from '../../src/onnx/builder.ts'
import { assay, assayJson, project, root } from '../support/assay.ts'
import { tensor } from '../support/small-models.ts'

const path = join(root, 'examples/models/example-matmul.onnx')
const folder = project()
const byDefault = { ASSAY_SCOPE: undefined }
const FULL = 'example-matmul/full_model@ort-web:wasm'
const LAYER = 'example-matmul/layer_MatMul_product@ort-web:wasm'

test('the example is one MatMul', () => {
  const weights = Array.from({ length: 32 }, (_, i) => Math.fround(Math.sin(i)))
  const model = buildModel({
    inputs: [{ name: 'x', dtype: 'float32', shape: ['batch', 8] }],
    outputs: [{ name: 'y', dtype: 'float32', shape: ['batch', 4] }],
    initializers: { weights: tensor('float32', [8, 4], weights) },
    nodes: [{ op: 'MatMul', name: 'product', inputs: ['x', 'weights'], outputs: ['y'] }],
  })
  expect(Buffer.compare(readFileSync(path), model)).toBe(0)
})

test.each([
  [[], [FULL, LAYER]],
  [['-k', 'matmul and not layer'], [FULL]],
  [['-k', 'example-matmul_layer'], [LAYER]],
  [['-k', 'example-matmul_layer_MatMul_0-sim-default'], [LAYER]],
  [['-k', 'example-matmul_full_model-sim-default'], [FULL]],
])('its cases with %j', async (select, ids) => {
  const { code, stdout } = await assay(['test', path, '--list', ...select], folder, byDefault)
  expect([code, ...stdout.trimEnd().split('\n')]).toEqual([0, ...ids])
})

test('whole and layer pass', async () => {
  const { code, results } = await assayJson(['test', path], folder, byDefault)
  expect([code, ...results.map(({ id, verdict }) => `${verdict} ${id}`)]).toEqual([0, `pass ${FULL}`, `pass ${LAYER}`])
})
