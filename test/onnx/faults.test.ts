import { tmpdir } from 'node:os'
import { expect, test } from 'vitest'
import type { Tensor } from '../../src/domain/tensor.ts'
import { buildModel, type GraphParts } from '../../src/onnx/builder.ts'
import { modelFromBytes } from '../../src/onnx/model.ts'
import { tensorFromProto } from '../../src/onnx/tensors/tensor-proto.ts'
import { encodeNumbers } from '../../src/tensors/encode.ts'
import { faultPlaces } from '../faults/faults.ts'

const floats = (shape: number[], values: number[]): Tensor => ({
  dtype: 'float32',
  shape,
  bytes: encodeNumbers('float32', values),
})

const bytes = buildModel({
  inputs: [{ name: 'x', dtype: 'float32' }],
  outputs: [{ name: 'y', dtype: 'float32' }],
  initializers: { w: floats([2, 2], [1.001, 2, 3, 4]), b: floats([2], [5, 6]), zero: floats([2], [0, 0]) },
  nodes: [
    { op: 'Gemm', inputs: ['x', 'w', 'b'], outputs: ['a'] },
    { op: 'Gemm', inputs: ['a', 'w', 'zero'], outputs: ['c'] },
    { op: 'LayerNormalization', inputs: ['c', 'b'], outputs: ['y'] },
  ],
})

async function weight(planted: Uint8Array): Promise<number[]> {
  const { graph } = await modelFromBytes(planted, tmpdir())
  return [...new Float32Array(tensorFromProto(graph.initializer[0]!).bytes.slice().buffer)]
}

const place = (kind: string) => faultPlaces(bytes).find((candidate) => candidate.kind === kind)!

test('places are listed by kind; a bias of zeros is none', () => {
  const kinds = faultPlaces(bytes).map(({ kind }) => kind)
  expect(kinds).toEqual(['weight', 'channels', 'bf16', 'bias', 'weight', 'channels', 'bf16', 'epsilon'])
})

test('each fault changes just what it says', async () => {
  const w = [Math.fround(1.001), 2, 3, 4]
  expect(await weight(bytes)).toEqual(w)
  expect(await weight(place('weight').plant({ pick: 0.25, factor: 2 }))).toEqual([w[0], 4, 3, 4])
  expect(await weight(place('channels').plant({ pick: 0 }))).toEqual([2, w[0], 4, 3])
  expect(await weight(place('bf16').plant())).toEqual([1, 2, 3, 4])
  const { graph } = await modelFromBytes(place('bias').plant(), tmpdir())
  expect(tensorFromProto(graph.initializer[1]!).bytes).toEqual(new Uint8Array(8))
  const normalised = await modelFromBytes(place('epsilon').plant({ epsilon: 0.5 }), tmpdir())
  expect(normalised.graph.node[2]!.attribute[0]).toMatchObject({ name: 'epsilon', f: 0.5 })
  expect(await weight(bytes)).toEqual(w)
})

test('a fault that would change nothing is an error', () => {
  expect(() => place('weight').plant({ factor: 1 })).toThrow(/change nothing/)
})

test('weights of branches and of the graph around them are found', () => {
  const branch: GraphParts = { nodes: [{ op: 'MatMul', inputs: ['x', 'w'], outputs: ['t'] }], outputs: [{ name: 't' }] }
  const model = buildModel({
    inputs: [{ name: 'x', dtype: 'float32' }],
    outputs: [{ name: 'y' }],
    initializers: { w: floats([2, 2], [1, 2, 3, 4]) },
    nodes: [{ op: 'If', inputs: ['c'], outputs: ['y'], attributes: { then_branch: branch, else_branch: branch } }],
  })
  expect(
    faultPlaces(model)
      .filter(({ kind }) => kind === 'weight')
      .map(({ where }) => where),
  ).toEqual(['MatMul "t" in then_branch of If "y"', 'MatMul "t" in else_branch of If "y"'])
})
