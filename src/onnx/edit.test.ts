import { tmpdir } from 'node:os'
import { expect, test } from 'vitest'
import { DTYPES } from '../domain/dtype.ts'
import { buildModel, type GraphParts, type ModelParts, type NodeParts } from './builder.ts'
import { nudgeQuantisers } from './edit.ts'
import { modelFromBytes, type OnnxModel } from './model.ts'
import { tensorFromProto } from './tensors/tensor-proto.ts'
import { walkScopes } from './walk.ts'

const quantiser = (input = 'x'): NodeParts => ({
  op: 'DynamicQuantizeLinear',
  inputs: [input],
  outputs: ['q', 's', 'z'],
})
const load = (parts: Omit<ModelParts, 'inputs' | 'outputs'>) =>
  modelFromBytes(
    buildModel({ inputs: [{ name: 'x', dtype: 'float32' }], outputs: [{ name: 'y' }], ...parts }),
    tmpdir(),
  )

const nudged = async (model: OnnxModel) => modelFromBytes(nudgeQuantisers(model, 1e-6, 1000), tmpdir())
const ops = (model: OnnxModel) => [...walkScopes(model.proto)].flatMap(({ nodes }) => nodes.map((node) => node.opType))

test('each element of a quantiser’s input moves by another part of itself, the original is left alone', async () => {
  const model = await load({ nodes: [quantiser()] })
  const before = model.bytes.slice()
  const nodes = (await nudged(model)).graph.node
  const made = new Map(nodes.flatMap((node) => node.output.map((name) => [name, node] as const)))
  const written = (name: string): string => {
    const node = made.get(name)
    if (!node) return name
    if (node.opType === 'Constant')
      return `${new Float32Array(tensorFromProto(node.attribute[0]!.t!).bytes.slice().buffer)[0]}`
    return `${node.opType}(${node.input.map(written).join(', ')})`
  }
  const moved = `Mul(x, Mul(Sin(Mul(x, 1000)), ${Math.fround(1e-6)}))`
  expect(written(nodes.at(-1)!.input[0]!)).toBe(`Add(x, ${moved})`)
  expect(model.bytes).toEqual(before)
  expect(model.graph.node[0]!.input).toEqual(['x'])
})

test('16-bit floats are moved as 32-bit ones', async () => {
  const nbits: NodeParts = { op: 'QuantizeLinear', inputs: ['x', 's'], outputs: ['y'] }
  const model = await modelFromBytes(
    buildModel({
      inputs: [
        { name: 'x', dtype: 'float16' },
        { name: 's', dtype: 'float16' },
      ],
      outputs: [{ name: 'y' }],
      nodes: [nbits],
    }),
    tmpdir(),
  )
  const { graph } = await modelFromBytes(nudgeQuantisers(model, 2 ** -10, 1000), tmpdir())
  const casts = graph.node.filter((node) => node.opType === 'Cast').map((node) => Number(node.attribute[0]!.i))
  expect(casts).toEqual([DTYPES.float32.onnx, DTYPES.float16.onnx])
  expect(graph.node.at(-1)!.input[0]).toBe(graph.node.at(-2)!.output[0])
})

test('quantisers in branches, functions and com.microsoft are nudged too', async () => {
  const branch: GraphParts = { nodes: [quantiser()], outputs: [{ name: 'q' }] }
  const inBranch = { op: 'If', inputs: ['c'], outputs: ['y'], attributes: { then_branch: branch, else_branch: branch } }
  expect(ops(await nudged(await load({ nodes: [inBranch] }))).filter((op) => op === 'Sin')).toHaveLength(2)
  const functions = [{ name: 'f', domain: 'd', inputs: ['a'], outputs: ['q'], nodes: [quantiser('a')] }]
  const call = { op: 'f', domain: 'd', inputs: ['x'], outputs: ['y'] }
  expect(ops(await nudged(await load({ nodes: [call], functions, domains: { d: 1 } })))).toContain('Sin')
  const microsoft = { op: 'DynamicQuantizeMatMul', domain: 'com.microsoft', inputs: ['x', 'b', 'c'], outputs: ['y'] }
  expect(ops(await nudged(await load({ nodes: [microsoft] })))).toContain('Sin')
})

test('names that the model uses are not taken', async () => {
  const model = await nudged(await load({ nodes: [quantiser('assay_nudge_0')] }))
  const names = model.graph.node.flatMap((node) => node.output)
  expect(names).not.toContain('assay_nudge_0')
  expect(new Set(names).size).toBe(names.length)
})

test('a nudge that the dtype rounds away is refused', async () => {
  const model = await load({ nodes: [quantiser()] })
  expect(() => nudgeQuantisers(model, 1e-9, 1000)).toThrow(/1 \+ 1e-9 is 1 in float32/)
})
