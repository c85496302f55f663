import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { realModels } from '../../examples/real-models/real-models.ts'
import type { Result } from '../../src/domain/result.ts'
import { faultPlaces } from '../faults/faults.ts'
import { assayJson, project } from '../support/assay.ts'

const pathOf = (id: string) => realModels.find((model) => model.id === id)!.path
const failing = (results: readonly Result[]) =>
  results.filter(({ part, verdict }) => part && verdict === 'fail').map(({ scope }) => scope)

function planted(id: string, node: string, factor: number): Uint8Array {
  const places = faultPlaces(new Uint8Array(readFileSync(pathOf(id))))
  return places.find(({ kind, where }) => kind === 'weight' && where.includes(`"${node}"`))!.plant({ factor })
}

test('one weight of a real model is found in its layer and nowhere else', async () => {
  const id = 'ch_ppocr_mobile_v2.0_cls_infer'
  const folder = project({ 'faulty.onnx': planted(id, 'p2o.Conv.17', 2) })
  const inputs = ['--input', 'x=text', '--dim', 'x[2]=48', '--dim', 'x[3]=192', '--scope', 'full,layers']
  const { results } = await assayJson(
    ['test', pathOf(id), ...inputs, '--target', 'faulty=ort:cpu,model=faulty.onnx'],
    folder,
  )
  expect([results[0]!.verdict, ...failing(results)]).toEqual(['fail', 'layer_Conv_p2o.Conv.17'])
  expect(results[0]!.reason).toMatch(/; look at layer_Conv_p2o.Conv.17, which does not pass alone$/)
  expect(results.filter(({ verdict }) => verdict === 'pass')).toHaveLength(220)
})

describe('a model whose roundings move it as far as a fault', { timeout: 240_000 }, () => {
  const id = 'encoder_model'
  const node = '/layers.3/self_attn/k_proj/MatMul_quant'
  const inputs = ['--input', 'input_values=voiced', '--dim', 'num_samples=8000', '--scope', 'full,layers']
  const folder = project({ 'faulty.onnx': planted(id, node, 1) })

  test('passes because every layer does, and says so', async () => {
    const { results } = await assayJson(['test', pathOf(id), ...inputs], folder)
    const [whole, ...layers] = results
    expect([...new Set(layers.map(({ verdict }) => verdict))]).toEqual(['pass'])
    expect(whole!.verdict).toBe('pass')
    // How far the two sides are apart as a whole depends on the processor; on some it is within tolerance.
    if (whole!.flags.includes('sensitive')) {
      expect(whole!.reason).toMatch(
        /rounding errors move .*; but every one of the 695 layers that it runs passes alone$/,
      )
    }
  })

  test('does not pass when one of its layers is faulty', async () => {
    const target = ['--target', 'faulty=ort:cpu,model=faulty.onnx']
    const { results, code } = await assayJson(['test', pathOf(id), ...inputs, ...target], folder)
    expect(code).toBe(1)
    expect(results[0]!.verdict).not.toBe('pass')
    expect(failing(results)).toEqual([`layer_MatMulInteger_${node}`])
  })
})
