import { toBinary } from '@bufbuild/protobuf'
import { describe, expect, test } from 'vitest'
import type { Result } from '../../src/domain/result.ts'
import { buildModel, type NodeParts } from '../../src/onnx/builder.ts'
import { TensorProtoSchema } from '../../src/onnx/generated/onnx-ml_pb.ts'
import { tensorToProto } from '../../src/onnx/tensors/tensor-proto.ts'
import { assayJson, project } from '../support/assay.ts'
import { tensor } from '../support/small-models.ts'

const LAYERS = ['--scope', 'full,layers']
const verdicts = (results: readonly Result[]) => results.map(({ scope, verdict }) => `${verdict} ${scope}`)

describe('shapes', () => {
  const model = buildModel({
    inputs: [{ name: 'x', dtype: 'float32', shape: [1, 'length', 2] }],
    outputs: [{ name: 'y', dtype: 'float32' }],
    initializers: { w: tensor('float32', [2, 3], [1, -2, 3, -4, 5, -6]), three: tensor('int64', [1], [3n]) },
    nodes: [
      { op: 'MatMul', inputs: ['x', 'w'], outputs: ['xw'] },
      // The shape that Reshape takes is computed while the model runs.
      { op: 'Shape', inputs: ['x'], outputs: ['sizes'] },
      { op: 'Gather', name: 'second', inputs: ['sizes', 'one'], outputs: ['length'] },
      { op: 'Concat', name: 'swap', inputs: ['three', 'length'], outputs: ['turned'], attributes: { axis: 0n } },
      { op: 'Reshape', name: 'turn', inputs: ['xw', 'turned'], outputs: ['y'] },
      { op: 'Constant', outputs: ['one'], attributes: { value: tensor('int64', [1], [1n]) } },
    ].sort((a, b) => Number(b.op === 'Constant') - Number(a.op === 'Constant')) as NodeParts[],
  })

  test('a symbolic dimension that is not the batch, bound twice, makes two cases of every layer', async () => {
    const folder = project({ 'm.onnx': model })
    const { code, results, stderr } = await assayJson(['test', 'm.onnx', ...LAYERS, '--dim', 'length=4,7'], folder)
    expect(code, stderr).toBe(0)
    const layers = ['MatMul_xw', 'Shape_sizes', 'Gather_second', 'Concat_swap', 'Reshape_turn']
    expect(verdicts(results)).toEqual([
      'pass full_model[length=4]',
      'pass full_model[length=7]',
      ...layers.map((name) => `pass layer_${name}[length=4]`),
      ...layers.map((name) => `pass layer_${name}[length=7]`),
    ])
    const turn = results.find(({ scope }) => scope === 'layer_Reshape_turn[length=7]')!
    expect(turn.measurements['input.xw']).toMatch(/^float32 \(1, 7, 3\), as/)
    expect(turn.measurements['input.turned']).toMatch(/^int64 \(2\), as/)
  })
})

test('nodes without a name and nodes that share one are told apart by what they give', async () => {
  const model = buildModel({
    inputs: [{ name: 'x', dtype: 'float32', shape: [3] }],
    outputs: [{ name: 'd', dtype: 'float32' }],
    nodes: [
      { op: 'Neg', name: 'twin', inputs: ['x'], outputs: ['a'] },
      { op: 'Exp', inputs: ['a'], outputs: ['b'] },
      { op: 'Neg', name: 'twin', inputs: ['b'], outputs: ['c'] },
      { op: 'Abs', name: 'own', inputs: ['c'], outputs: ['d'] },
    ],
  })
  const { results } = await assayJson(['test', 'm.onnx', ...LAYERS], project({ 'm.onnx': model }))
  const scopes = ['full_model', 'layer_Neg_a', 'layer_Exp_b', 'layer_Neg_c', 'layer_Abs_own']
  // onnxruntime refuses a graph with a name twice; its layers can be judged all the same.
  expect(verdicts(results)).toEqual(scopes.map((scope, i) => `${i === 0 ? 'error' : 'pass'} ${scope}`))
  expect(results[1]!.measurements['both sides alone']).toMatch(
    /^because the unmodified model does not run on the reference/,
  )
})

test('of an If, each of two input sets judges the branch that it takes', async () => {
  const branch = (op: string) => ({ nodes: [{ op, inputs: ['x'], outputs: ['t'] }], outputs: [{ name: 't' }] })
  const attributes = { then_branch: branch('Exp'), else_branch: branch('Tanh') }
  const model = buildModel({
    inputs: [
      { name: 'x', dtype: 'float32', shape: [2] },
      { name: 'c', dtype: 'bool', shape: [] },
    ],
    outputs: [{ name: 'y', dtype: 'float32', shape: [2] }],
    nodes: [{ op: 'If', inputs: ['c'], outputs: ['y'], attributes }],
  })
  const file = (name: string, value: ReturnType<typeof tensor>) =>
    toBinary(TensorProtoSchema, tensorToProto(name, value))
  const dataSet = (c: number, y: readonly number[]) => ({
    'input_0.pb': file('x', tensor('float32', [2], [0.5, 1])),
    'input_1.pb': file('c', tensor('bool', [], [c])),
    'output_0.pb': file('y', tensor('float32', [2], y)),
  })
  const sets = [dataSet(1, [Math.exp(0.5), Math.E]), dataSet(0, [Math.tanh(0.5), Math.tanh(1)])]
  const files = sets.flatMap((set, i) =>
    Object.entries(set).map(([name, bytes]) => [`m/test_data_set_${i}/${name}`, bytes]),
  )
  const folder = project({ 'm/model.onnx': model, ...Object.fromEntries(files) })
  const live = await assayJson(['test', 'm', ...LAYERS, '--reference', 'ort:cpu'], folder)
  expect(verdicts(live.results).sort()).toEqual([
    'pass full_model[data=0]',
    'pass full_model[data=1]',
    'pass layer_Exp_then_branch.t[data=0]',
    'pass layer_Tanh_else_branch.t[data=1]',
    'skip layer_Exp_then_branch.t[data=1]',
    'skip layer_Tanh_else_branch.t[data=0]',
  ])
  expect(live.results.find(({ verdict }) => verdict === 'skip')!.flags).toEqual(['not-reached'])
  const recorded = await assayJson(['test', 'm', ...LAYERS], folder)
  expect(verdicts(recorded.results)).toEqual(['pass full_model[data=0]', 'pass full_model[data=1]'])
})

test('values that no worker gives travel as float32', async () => {
  const cast = (to: number, input: string, output: string): NodeParts => {
    return { op: 'Cast', name: `to_${output}`, inputs: [input], outputs: [output], attributes: { to: BigInt(to) } }
  }
  const model = buildModel({
    opset: 21,
    inputs: [{ name: 'x', dtype: 'float32', shape: [4] }],
    outputs: [{ name: 'y', dtype: 'float32', shape: [4] }],
    initializers: { step: tensor('float32', [], [0.25]), zero: tensor('float8e4m3fn', [], [0]) },
    nodes: [
      cast(16, 'x', 'short'),
      cast(1, 'short', 'wide'),
      { op: 'QuantizeLinear', name: 'shrink', inputs: ['wide', 'step', 'zero'], outputs: ['tiny'] },
      { op: 'DequantizeLinear', name: 'grow', inputs: ['tiny', 'step', 'zero'], outputs: ['y'] },
    ],
  })
  const folder = project({ 'm.onnx': model })
  const { results, stderr } = await assayJson(['test', 'm.onnx', ...LAYERS, '--input', 'x=0..9'], folder)
  expect(verdicts(results), stderr).toEqual([
    'pass full_model',
    'pass layer_Cast_to_short',
    'pass layer_Cast_to_wide',
    'pass layer_QuantizeLinear_shrink',
    'pass layer_DequantizeLinear_grow',
  ])
  expect(results[1]!.outputs[0]).toMatchObject({ name: 'short#float32', dtype: 'float32' })
  expect(results[4]!.measurements['input.tiny#float32']).toMatch(/^float32 \(4\), as the reference/)
})
