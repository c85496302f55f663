import { join } from 'node:path'
import { expect, test } from 'vitest'
import { assayJson, project, root } from '../support/assay.ts'
import { affineModel } from '../support/small-models.ts'

const MICRO = { model_type: 'llama', hidden_size: 32, num_hidden_layers: 2, vocab_size: 128 }
const worker = (name: string, value: number) =>
  `${name}=command:node,arg=${join(root, 'test/workers/folder-worker.mjs')},arg=${value}`

test('where no Python is set up, a folder that was found by the way is skipped and says what to do', async () => {
  const { results, code } = await assayJson(['test', 'micro'], project({ 'micro/config.json': JSON.stringify(MICRO) }))
  expect([code, results[0]?.verdict]).toEqual([5, 'skip'])
  expect(results[0]?.reason).toMatch(/torch:cpu is not available: .*assay setup python torch/)
})

test('beside an ONNX model, an input that one of them has is no mistake for the other', async () => {
  const mixed = project({ 'models/a.onnx': affineModel(), 'models/micro/config.json': JSON.stringify(MICRO) })
  const onnx = ['test', 'models', '-k', 'a/full_model', '--target', 'ort-web:wasm', '--input', 'input_ids=1']
  expect((await assayJson(onnx, mixed)).results.map(({ verdict }) => verdict)).toEqual(['pass'])
  const sides = ['--reference', worker('one', 3), '--target', `${worker('same', 3)},run=1min`]
  const { results } = await assayJson(['test', 'models', '-k', 'micro', ...sides, '--input', 'x=1'], mixed)
  expect(results.map(({ verdict }) => verdict)).toEqual(['pass'])
})
