import { describe, expect, test } from 'vitest'
import { affineModel, constantModel, tensor } from '../../../../test/support/small-models.ts'
import type { RunOutcome } from '../../../runs/execute/execute.ts'
import { type Fault, hasOp, plantedKind, withNumbers } from '../../../runtimes/testing/planted-fault.ts'
import { folderWith, type Judging, judgeModels, onlyResult } from '../../testing/judge.ts'

const OFF = 0.7e-4
const files = {
  'm.onnx': affineModel(2000),
  'other/low.onnx': affineModel(2000 * (1 - OFF)),
  'other/lower.onnx': affineModel(2000 * (1 - 1.8 * OFF)),
  'other/high.onnx': affineModel(2000 * (1 + OFF)),
  'other/higher.onnx': affineModel(2000 * (1 + 2 * OFF)),
  'other/far.onnx': affineModel(2200),
  'choice.onnx': constantModel(tensor('int64', [2], [1n, 2n])),
  'other/choice.onnx': constantModel(tensor('int64', [2], [1n, 3n])),
}
const low = 'low=ort:cpu,model=other/low.onnx'
const high = 'high=ort:cpu,model=other/high.onnx'
const plain = 'plain=ort:cpu,optimization=disabled'
const far = 'far=ort:cpu,model=other/far.onnx'

async function judged([reference, ...otherReferences]: readonly string[], target: string, more: Judging = {}) {
  const sides = { reference: reference!, otherReferences, targets: [target] }
  return judgeModels(folderWith(files), { paths: ['m.onnx'], ...sides, ...more })
}

describe('two references', () => {
  test('that disagree make a case inconclusive that passes with either alone', async () => {
    expect(onlyResult(await judged([low], 'ort:cpu')).verdict).toBe('pass')
    expect(onlyResult(await judged([high], 'ort:cpu')).verdict).toBe('pass')
    const both = onlyResult(await judged([low, high], 'ort:cpu'))
    expect([both.verdict, both.flags]).toEqual(['inconclusive', ['references-disagree']])
    expect(both.reason).toMatch(
      /^the references disagree, high: y: .*relL2 1\.4e-4 is over 1e-4; the target agrees with the first$/,
    )
    expect(both).toMatchObject({ reference: 'low and high', measurements: { 'reference2.name': 'high' } })
    const kept = both.artifacts.map(({ name }) => name)
    expect(kept).toEqual([
      'reference2.safetensors',
      'inputs.safetensors',
      'reference.safetensors',
      'target.safetensors',
    ])
  })

  test('that agree change nothing', async () => {
    const { verdict, flags } = onlyResult(await judged(['ort:cpu', plain], 'ort:cpu,threads=2'))
    expect([verdict, flags]).toEqual(['pass', []])
  })

  test('that agree leave a failure a failure', async () => {
    const { verdict, flags } = onlyResult(await judged(['ort:cpu', plain], far))
    expect([verdict, flags]).toEqual(['fail', ['over-tolerance']])
  })

  test('do not blame a target that lies where the second does', async () => {
    const higher = 'higher=ort:cpu,model=other/higher.onnx'
    const { verdict, flags, reason } = onlyResult(await judged([low, high], higher))
    expect([verdict, flags]).toEqual(['inconclusive', ['over-tolerance', 'references-disagree']])
    expect(reason).toMatch(/; the target against the first: y: .*relL2 2\.1e-4 is over 1e-4$/)
  })

  test('do not blame a target that lies no further from the first, on the other side of it', async () => {
    const lower = 'lower=ort:cpu,model=other/lower.onnx'
    const higher = 'higher=ort:cpu,model=other/higher.onnx'
    expect(onlyResult(await judged(['ort:cpu', plain], lower)).verdict).toBe('fail')
    const { verdict, flags } = onlyResult(await judged(['ort:cpu', higher], lower))
    expect([verdict, flags]).toEqual(['inconclusive', ['over-tolerance', 'references-disagree']])
  })

  test('do not excuse a target that is further from both than they are from each other', async () => {
    const { verdict, flags, reason } = onlyResult(await judged([low, high], far))
    expect([verdict, flags]).toEqual(['fail', ['over-tolerance', 'references-disagree']])
    expect(reason).toMatch(/relL2 0\.1.*; the references disagree, high: y: .*, but by less$/)
  })

  test('judge exact values too: the target may agree with either', async () => {
    const other = 'other=ort:cpu,model=other/choice.onnx'
    const { verdict, flags } = onlyResult(await judged([other, 'ort:cpu'], plain, { paths: ['choice.onnx'] }))
    expect([verdict, flags]).toEqual(['inconclusive', ['references-disagree']])
  })

  test('of which the second is not here are an error, not silence', async () => {
    const { verdict, error } = onlyResult(await judged(['ort:cpu', 'ort:nosuch'], plain))
    expect([verdict, error?.stage, error?.side]).toEqual(['error', 'discover', 'reference'])
  })
})

describe('two references of a model and its layers', () => {
  const byScope = ({ results }: RunOutcome) =>
    Object.fromEntries(results.map(({ scope, verdict, flags }) => [scope, [verdict, ...flags].join(' ')]))
  const withSecond = (fault: Fault) =>
    judged(['ort:cpu', 'second:cpu'], plain, { scopes: ['full', 'layers'], kinds: [plantedKind('second', fault)] })

  test('of which one fuses wrongly cast doubt on the whole and on no layer', async () => {
    const outcome = await withSecond({
      output: (_name, given, { model }) => ('path' in model ? withNumbers(given, (value) => 1.01 * value) : given),
    })
    expect(byScope(outcome)).toEqual({
      full_model: 'inconclusive references-disagree',
      layer_Mul_scaled: 'pass',
      layer_Add_y: 'pass',
    })
  })

  test('of which the second cannot run a layer: the first judges alone, and the record says so', async () => {
    const outcome = await withSecond({
      open: (model) => {
        if (hasOp(model, 'Mul')) throw new Error('Mul is not supported')
      },
    })
    expect(byScope(outcome)).toEqual({
      full_model: 'pass',
      layer_Mul_scaled: 'pass one-reference',
      layer_Add_y: 'pass',
    })
    const layer = outcome.results.find(({ scope }) => scope === 'layer_Mul_scaled')!
    expect(layer.measurements['reference2.not_run']).toBe('second:cpu: Mul is not supported')
  })

  test('of which the second runs another model say nothing about layers', async () => {
    const outcome = await judged(['ort:cpu', far], plain, { scopes: ['layers'] })
    expect(byScope(outcome)).toEqual({ layer_Mul_scaled: 'pass', layer_Add_y: 'pass' })
    expect(outcome.results[0]!.measurements).not.toHaveProperty('reference2.name')
  })
})
