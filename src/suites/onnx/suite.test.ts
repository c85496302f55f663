import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { toBinary } from '@bufbuild/protobuf'
import { describe, expect, test } from 'vitest'
import { affineModel, tensor } from '../../../test/support/small-models.ts'
import type { Tensor } from '../../domain/tensor.ts'
import { buildModel } from '../../onnx/builder.ts'
import { TensorProtoSchema } from '../../onnx/generated/onnx-ml_pb.ts'
import { tensorToProto } from '../../onnx/tensors/tensor-proto.ts'
import { planRun } from '../../runs/plan/plan.ts'
import { explainRefusal } from '../../runtimes/ort/create-session.ts'
import { inProcessPool } from '../../runtimes/testing/in-process-ort.ts'
import { plantedKind } from '../../runtimes/testing/planted-fault.ts'
import { folderWith, type Judging, judgeModels, onlyResult, suiteOptions, verdicts } from '../testing/judge.ts'
import { onnxSuite } from './suite.ts'

/** y = 2x + 1 over `n` rows. */
const rows = () =>
  affineModel(2, {
    inputs: [{ name: 'x', dtype: 'float32', shape: ['n', 3] }],
    outputs: [{ name: 'y', dtype: 'float32', shape: ['n', 3] }],
  })

const proto = (name: string, value: Tensor) => toBinary(TensorProtoSchema, tensorToProto(name, value))
const floats = (...values: number[]) => tensor('float32', [2, 3], values)

/** Files of a data set of the affine model: its input, and what is said to be its output. */
function dataSet(folder: string, output: readonly number[]): Record<string, Uint8Array> {
  return {
    [`${folder}/input_0.pb`]: proto('x', floats(0, 1, 2, 3, 4, 5)),
    [`${folder}/output_0.pb`]: proto('y', floats(...output)),
  }
}

const RIGHT = [1, 3, 5, 7, 9, 11]
const WRONG = [1, 3, 5, 7, 9, 12]

async function planned(folder: string, judging: Judging = {}) {
  const pool = inProcessPool(folder)
  return planRun({ suites: [onnxSuite({ ...suiteOptions(folder, judging), pool })] })
}

describe('a model of an opset that is too old', () => {
  const square = (name: string) => ({ name, dtype: 'float32', shape: [2, 2] }) as const
  const old = (opset: number) =>
    buildModel({
      opset,
      ir: 3,
      inputs: ['a', 'b', 'c'].map(square),
      outputs: [square('y')],
      nodes: [{ op: 'Gemm', name: 'g', inputs: ['a', 'b', 'c'], outputs: ['y'] }],
    })
  const message = (name: string) =>
    expect.stringContaining(
      `${name}: the model's opset 6 is too old: onnxruntime has no kernel for Gemm of that opset, and takes opset 7 or newer; to convert: `,
    )

  test('is said to be so, whole and by layer', async () => {
    const { results } = await judgeModels(folderWith({ 'm.onnx': old(6) }), { scopes: ['full', 'layers'] })
    expect(results.map(({ error }) => error?.message)).toEqual([message('ort:cpu'), message('ort:cpu')])
  })

  test('is the one of the side that refused it, and types are blamed only where it is not', async () => {
    const folder = folderWith({ 'm.onnx': old(7), 'old/m.onnx': old(6) })
    const asWebGpu = "Provider type for Gemm node with name 'g' is not set"
    const refusing = plantedKind('webgpu', {
      open: () => {
        throw new Error(explainRefusal(asWebGpu))
      },
    })
    const judging = { paths: ['m.onnx'], kinds: [refusing], targets: ['webgpu:cpu,model=old/m.onnx', 'webgpu:cpu'] }
    const { results } = await judgeModels(folder, judging)
    const said = results.map(({ error }) => error?.message)
    expect(said).toContainEqual(message('webgpu:cpu,model=old/m.onnx'))
    expect(said).toContain('webgpu:cpu: no execution provider has a kernel for Gemm "g" with these types')
  })
})

describe('the cases of a run', () => {
  test('are every model in every shape on every target, by path and name', async () => {
    const folder = folderWith({ 'zoo/b.onnx': affineModel(), 'a.onnx': rows() })
    const targets = ['ort:cpu,threads=2', 'other=ort:cpu,optimization=disabled']
    const { header } = await planned(folder, { shapes: [{ match: 'a', dims: { n: [1, 4] } }], targets })
    expect(header.cases).toEqual([
      'a/full_model[n=1]@ort:cpu,threads=2',
      'a/full_model[n=1]@other',
      'a/full_model[n=4]@ort:cpu,threads=2',
      'a/full_model[n=4]@other',
      'zoo/b/full_model@ort:cpu,threads=2',
      'zoo/b/full_model@other',
    ])
  })

  test('are only those of models that were asked for', async () => {
    const folder = folderWith({ 'a.onnx': affineModel(), 'b.onnx': affineModel() })
    expect((await planned(folder, { only: [join(folder, 'b.onnx')] })).header.cases).toEqual([
      'b/full_model@ort:cpu,optimization=disabled',
    ])
  })

  test('hold a model that cannot be read, which is an error whatever was asked for, and the rest is judged', async () => {
    const folder = folderWith({ 'a.onnx': affineModel() })
    symlinkSync('nowhere.onnx', join(folder, 'gone.onnx'))
    symlinkSync('loop', join(folder, 'loop'))
    const said: string[] = []
    for (const scope of ['full', 'layers'] as const) {
      const judging = { scopes: [scope], contents: true, notice: (text: string) => said.push(text) }
      const { results } = await judgeModels(folder, judging)
      expect(results.filter(({ verdict }) => verdict === 'pass').length).toBe(scope === 'full' ? 1 : 2)
      const [error] = results.filter(({ verdict }) => verdict === 'error')
      expect(error).toMatchObject({ model: 'gone', error: { stage: 'import' } })
      expect(error?.error?.message).toMatch(/gone\.onnx is a link to nowhere\.onnx, which does not exist$/)
    }
    const notice = 'not searched for models: loop is a link that points back to itself'
    expect(said).toEqual([notice, notice])
  })

  test('have the id that older documents write as an alias', async () => {
    const folder = folderWith({ 'm.onnx': affineModel() })
    const scopes = ['full', 'layers'] as const
    const { work } = await planned(folder, { scopes, targets: ['ort:cpu,hw=tpu,chip=v5'] })
    expect(work.map(({ c }) => c.aliases)).toEqual([
      ['m_full_model-tpu-v5'],
      ['m_layer_Mul_scaled-tpu-v5', 'm_layer_Mul_0-tpu-v5'],
      ['m_layer_Add_y-tpu-v5', 'm_layer_Add_1-tpu-v5'],
    ])
  })

  test('hold the content of their model where shards are merged later', async () => {
    const digest = async (scale: number) => {
      const { header, work } = await planned(folderWith({ 'm.onnx': affineModel(scale) }), { contents: true })
      return [header.digest, work[0]!.c.content]
    }
    expect(await digest(2)).toEqual(await digest(2))
    const [two, three] = [await digest(2), await digest(3)]
    expect(two[0]).not.toBe(three[0])
    expect(two[1]).not.toBe(three[1])
  })

  test.each([
    ['ort:cpu', 'ort:cpu'],
    ['ort:cpu,threads=2', 'named=ort:cpu,threads=2'],
  ])('against %s do not have %s as target, which could not fail', async (reference, target) => {
    const folder = folderWith({ 'm.onnx': affineModel() })
    const message = /is its own reference, so it cannot fail; give another --target or --reference/
    await expect(planned(folder, { reference, targets: [target] })).rejects.toThrow(message)
    await expect(planned(folder, { otherReferences: [reference], targets: [target] })).rejects.toThrow(message)
  })

  test('of a file that is no model have no layers', async () => {
    const { header } = await planned(folderWith({ 'm.onnx': 'this is no model' }), { scopes: ['full', 'layers'] })
    expect(header.cases).toEqual(['m/full_model@ort:cpu,optimization=disabled'])
  })

  test('of what was recorded have no layers', async () => {
    const folder = folderWith({ 'm.onnx': affineModel() })
    const layers = { scopes: ['layers'] } as const
    expect((await planned(folder, { ...layers, reference: 'recorded:.' })).header.cases).toEqual([])
    expect((await planned(folder, { ...layers, targets: ['recorded:.'] })).header.cases).toEqual([])
  })
})

describe('a model with recorded data', () => {
  const judged = (files: Record<string, Uint8Array | string>, judging: Judging = {}) =>
    judgeModels(folderWith({ 'm/model.onnx': affineModel(), ...files }), { targets: ['ort:cpu'], ...judging })

  test('is judged against its recorded outputs', async () => {
    const { results } = await judged(dataSet('m/test_data_set_0', RIGHT))
    expect(results).toMatchObject([{ id: 'm/full_model@ort:cpu', reference: 'recorded', verdict: 'pass' }])
  })

  test('fails where they differ, and nothing excuses it', async () => {
    const { results } = await judged(dataSet('m/test_data_set_0', WRONG))
    expect(results).toMatchObject([{ verdict: 'fail', worst: [{ index: [1, 2], reference: '12', target: '11' }] }])
    expect(results[0]!.band).toBeUndefined()
    expect(results[0]!.artifacts.map(({ name }) => name)).toEqual(['target.safetensors'])
  })

  test('has a case for every data set', async () => {
    const sets = { ...dataSet('m/test_data_set_0', RIGHT), ...dataSet('m/test_data_set_1', WRONG) }
    expect(verdicts(await judged(sets))).toEqual(['pass full_model[data=0]', 'fail full_model[data=1]'])
  })

  test('is judged on its inputs against a live reference where one was named', async () => {
    const live = { reference: 'ort:cpu', targets: ['ort:cpu,optimization=disabled'] }
    const { results } = await judged(dataSet('m/test_data_set_0', WRONG), live)
    expect(results).toMatchObject([{ reference: 'ort:cpu', verdict: 'pass' }])
  })

  test('has no more files than the model has inputs', async () => {
    const files = { ...dataSet('m/test_data_set_0', RIGHT), 'm/test_data_set_0/input_1.pb': new Uint8Array() }
    const { error } = onlyResult(await judged(files))
    const message = '2 input files but the model declares 1 inputs'
    expect(error).toEqual({ stage: 'inputs', side: 'reference', message })
  })

  test('whose files are damaged is an error of its inputs', async () => {
    const files = { ...dataSet('m/test_data_set_0', RIGHT), 'm/test_data_set_0/input_0.pb': 'not a tensor' }
    const { error } = onlyResult(await judged(files))
    expect(error).toMatchObject({ stage: 'inputs', side: 'reference' })
  })
})

/** y = relu(x), of whatever shape; `listed` names its outputs. */
const rankless = (shape?: readonly number[], listed: readonly string[] = ['y']) =>
  buildModel({
    inputs: [{ name: 'x', dtype: 'float32', ...(shape && { shape }) }],
    outputs: listed.map((name) => ({ name, dtype: 'float32' })),
    nodes: [{ op: 'Relu', inputs: ['x'], outputs: ['y'] }],
  })

describe('recorded data of a model', () => {
  const files = (model: Uint8Array, given: Tensor, outputs = 1) => {
    const set = Array.from({ length: outputs }, (_, i) => [`m/test_data_set_0/output_${i}.pb`, proto('y', given)])
    return { 'm/model.onnx': model, 'm/test_data_set_0/input_0.pb': proto('x', given), ...Object.fromEntries(set) }
  }
  const judged = async (...parts: Parameters<typeof files>) =>
    onlyResult(await judgeModels(folderWith(files(...parts)), { targets: ['ort:cpu'] }))

  test('that declares no shape for its input has any shape', async () => {
    expect(await judged(rankless(), floats(0, 1, 2, 3, 4, 5))).toMatchObject({ verdict: 'pass' })
  })

  test('that declares a scalar is a scalar', async () => {
    expect(await judged(rankless([]), tensor('float32', [], [2]))).toMatchObject({ verdict: 'pass' })
    expect((await judged(rankless([]), tensor('float32', [1], [2]))).error).toEqual({
      stage: 'inputs',
      message: 'the recorded input "x" has shape (1), expected a scalar',
    })
  })

  test('that lists an output twice may have it twice', async () => {
    const { verdict, coverage } = await judged(rankless([2, 3], ['y', 'y']), floats(0, 1, 2, 3, 4, 5), 2)
    expect([verdict, coverage]).toEqual(['pass', { compared: 1, expected: 1 }])
  })
})

describe('inputs that are made', () => {
  test('fit open dimensions, and the record says how', async () => {
    const folder = folderWith({ 'm.onnx': rows() })
    const { results } = await judgeModels(folder, { shapes: [{ match: '**', dims: { n: [4] } }] })
    expect(results[0]!.measurements).toMatchObject({ 'input.x': expect.stringMatching(/^float32 \(4, 3\), /) })
    expect(results[0]!.measurements['dim.n']).toMatch(/^4 \(/)
    expect(results[0]!.verdict).toBe('pass')
  })

  test('are the same for the same seed and others for another', async () => {
    const folder = folderWith({ 'm.onnx': affineModel() })
    const keysOf = async (seed: number) => {
      const { steps } = onlyResult(await judgeModels(folder, { seed }))
      return steps.flatMap(({ key, title }) => (title === 'run on ort:cpu' ? [key] : []))
    }
    const [first, again, other] = [await keysOf(0), await keysOf(0), await keysOf(1)]
    expect(first).toHaveLength(1)
    expect(again).toEqual(first)
    expect(other).not.toEqual(first)
  })

  test.each<[string, Judging, string]>([
    [
      'an input',
      { inputs: [{ match: '**', policies: { z: { value: 1 } } }] },
      'the model has no input "z"; its inputs are x',
    ],
    [
      'a dimension',
      { shapes: [{ match: '**', dims: { m: [1] } }] },
      'the model has no open dimension "m"; its open dimensions are n',
    ],
  ])('for %s that the only model does not have are refused', async (_what, judging, message) => {
    const { error } = onlyResult(await judgeModels(folderWith({ 'm.onnx': rows() }), judging))
    expect(error).toMatchObject({ stage: 'inputs', message })
  })

  test('for an input that one of several models does not have are meant for another', async () => {
    const folder = folderWith({ 'a.onnx': rows(), 'b.onnx': rows() })
    const outcome = await judgeModels(folder, { inputs: [{ match: '**', policies: { z: { value: 1 } } }] })
    expect(outcome.results.map(({ verdict }) => verdict)).toEqual(['pass', 'pass'])
  })
})

describe('what was computed', () => {
  const madeIn = async (folder: string, judging: Judging = {}) => {
    const { steps, verdict } = onlyResult(await judgeModels(folder, judging))
    expect(verdict).toBe('pass')
    return steps.flatMap(({ key, cached, title }) => (key !== null && !cached ? [title] : []))
  }
  const ALL = ['run on ort:cpu', 'run on ort:cpu,optimization=disabled']

  test('is found again by a later run, unless that computes anew', async () => {
    const folder = folderWith({ 'm.onnx': affineModel() })
    expect((await madeIn(folder)).sort()).toEqual(ALL)
    expect(await madeIn(folder)).toEqual([])
    expect((await madeIn(folder, { run: { recompute: true } })).sort()).toEqual(ALL)
  })

  test('is made anew for a model that was edited under its name, and for other inputs', async () => {
    const folder = folderWith({ 'm.onnx': affineModel() })
    await madeIn(folder)
    writeFileSync(join(folder, 'm.onnx'), affineModel(3))
    expect((await madeIn(folder)).sort()).toEqual(ALL)
    expect((await madeIn(folder, { inputs: [{ match: '**', policies: { x: { range: [3, 4] } } }] })).sort()).toEqual(
      ALL,
    )
  })

  test('is made anew by the side whose options changed, and only there', async () => {
    const folder = folderWith({ 'm.onnx': affineModel() })
    await madeIn(folder)
    expect(await madeIn(folder, { targets: ['ort:cpu,threads=2'] })).toEqual(['run on ort:cpu,threads=2'])
  })
})

test('a model without inputs is judged once', async () => {
  const model = buildModel({
    outputs: [{ name: 'y', dtype: 'float32', shape: [2] }],
    nodes: [{ op: 'Constant', outputs: ['y'], attributes: { value: tensor('float32', [2], [1, 2]) } }],
  })
  expect(verdicts(await judgeModels(folderWith({ 'm.onnx': model })))).toEqual(['pass full_model'])
})
