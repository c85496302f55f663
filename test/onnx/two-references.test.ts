import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Result } from '../../src/domain/result.ts'
import { assay, assayJson, project, root } from '../support/assay.ts'
import { affineModel, constantModel, tensor } from '../support/small-models.ts'

const OFF = 0.7e-4
const folder = project({
  'model.onnx': affineModel(2000),
  'low.onnx': affineModel(2000 * (1 - OFF)),
  'high.onnx': affineModel(2000 * (1 + OFF)),
  'higher.onnx': affineModel(2000 * (1 + 2 * OFF)),
  'far.onnx': affineModel(2200),
  'choice.onnx': constantModel(tensor('int64', [2], [1n, 2n])),
  'other-choice.onnx': constantModel(tensor('int64', [2], [1n, 3n])),
})
const low = 'low=ort:cpu,model=low.onnx'
const high = 'high=ort:cpu,model=high.onnx'
const worker = (name: string) => `command:node,arg=${join(root, 'test/workers', name)}`

async function judged(references: readonly string[], target = 'ort-web:wasm', model = 'model.onnx') {
  const args = references.flatMap((reference) => ['--reference', reference])
  const { results, code } = await assayJson(['test', model, ...args, '--target', target], folder)
  return { ...results[0]!, code }
}

describe('two references', () => {
  test('that disagree make a case inconclusive that passes with either alone', async () => {
    expect([(await judged([low])).verdict, (await judged([high])).verdict]).toEqual(['pass', 'pass'])
    const both = await judged([low, high])
    expect([both.verdict, both.flags, both.code]).toEqual(['inconclusive', ['references-disagree'], 5])
    expect(both.reason).toMatch(
      /^the references disagree, high: y: .*relL2 1\.4e-4 is over 1e-4; the target agrees with the first$/,
    )
    expect(both.reference).toBe('low and high')
    expect(both.measurements['reference2.name']).toBe('high')
    const kept = both.artifacts.map(({ name }) => name)
    expect(kept).toEqual(expect.arrayContaining(['reference.safetensors', 'reference2.safetensors']))
  })
})

describe('two references of a model and its layers', () => {
  const layers = { ASSAY_SCOPE: 'full,layers' }
  const byScope = (results: readonly Result[]) =>
    Object.fromEntries(results.map(({ scope, verdict, flags }) => [scope, [verdict, ...flags].join(' ')]))

  test('one that fuses wrongly casts doubt on the whole and on no layer', async () => {
    const args = ['test', 'model.onnx', '--reference', 'ort:cpu', '--reference', worker('fusing-worker.mjs')]
    const { results } = await assayJson(args, folder, layers)
    expect(byScope(results)).toEqual({
      full_model: 'inconclusive references-disagree',
      layer_Mul_scaled: 'pass',
      layer_Add_y: 'pass',
    })
  })

  test('where the second cannot run a layer, the first judges alone, and the record says so', async () => {
    const args = ['test', 'model.onnx', '--reference', 'ort:cpu', '--reference', worker('refusing-worker.mjs')]
    const { results, code } = await assayJson(args, folder, layers)
    expect(byScope(results)).toEqual({
      full_model: 'pass',
      layer_Mul_scaled: 'pass one-reference',
      layer_Add_y: 'pass',
    })
    const layer = results.find(({ scope }) => scope === 'layer_Mul_scaled')!
    expect(layer.measurements['reference2.not_run']).toMatch(/Mul is not supported/)
    expect(code).toBe(0)
  })
})

describe('the command line of two references', () => {
  test('the same twice is refused', async () => {
    const { code, stderr } = await assay(['test', 'model.onnx', '--reference', 'ort', '--reference', 'ort:cpu'], folder)
    expect([code, stderr]).toEqual([4, expect.stringContaining('reference "ort:cpu" is given twice')])
  })

  test('a second one that is also the target is refused', async () => {
    const args = ['test', 'model.onnx', '--reference', 'ort:cpu', '--reference', 'ort-web:wasm']
    const { code, stderr } = await assay(args, folder)
    expect([code, stderr]).toEqual([4, expect.stringContaining('is its own reference')])
  })

  test('a second one that is not here is an error, not silence', async () => {
    const { verdict, error } = await judged(['ort:cpu', 'ort:nosuch'])
    expect([verdict, error?.stage, error?.side]).toEqual(['error', 'discover', 'reference'])
  })

  test('the command to reproduce names both', async () => {
    expect((await judged([low, high])).reproduce).toContain(`--reference ${low} --reference ${high}`)
  })
})
