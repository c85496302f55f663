import { tmpdir } from 'node:os'
import { expect, test } from 'vitest'
import { buildModel, type GraphParts, type ModelParts, type NodeParts } from './builder.ts'
import { nudgeQuantisers } from './edit.ts'
import { modelFromBytes, type OnnxModel } from './model.ts'
import { tensorFromProto } from './tensor-proto.ts'
import { scopesOf } from './walk.ts'

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

const nudged = async (model: OnnxModel, relative = 1e-6) => modelFromBytes(nudgeQuantisers(model, relative), tmpdir())
const ops = (model: OnnxModel) => [...scopesOf(model.proto)].flatMap(({ nodes }) => nodes.map((node) => node.opType))

test('the input of a quantiser is multiplied, the original is left alone', async () => {
  const model = await load({ nodes: [quantiser()] })
  const before = model.bytes.slice()
  const [constant, multiply, quantise] = (await nudged(model)).graph.node
  const factor = tensorFromProto(constant!.attribute[0]!.t!)
  expect(factor).toEqual({ dtype: 'float32', shape: [], bytes: new Uint8Array(Float32Array.of(1 + 1e-6).buffer) })
  expect(multiply).toMatchObject({ opType: 'Mul', input: ['x', constant!.output[0]] })
  expect(quantise!.input).toEqual(multiply!.output)
  expect(model.bytes).toEqual(before)
  expect(model.graph.node[0]!.input).toEqual(['x'])
})

test('quantisers in branches, functions and com.microsoft are nudged too', async () => {
  const branch: GraphParts = { nodes: [quantiser()], outputs: [{ name: 'q' }] }
  const inBranch = { op: 'If', inputs: ['c'], outputs: ['y'], attributes: { then_branch: branch, else_branch: branch } }
  expect(ops(await nudged(await load({ nodes: [inBranch] }))).filter((op) => op === 'Mul')).toHaveLength(2)
  const functions = [{ name: 'f', domain: 'd', inputs: ['a'], outputs: ['q'], nodes: [quantiser('a')] }]
  const call = { op: 'f', domain: 'd', inputs: ['x'], outputs: ['y'] }
  expect(ops(await nudged(await load({ nodes: [call], functions, domains: { d: 1 } })))).toContain('Mul')
  const microsoft = { op: 'DynamicQuantizeMatMul', domain: 'com.microsoft', inputs: ['x', 'b', 'c'], outputs: ['y'] }
  expect(ops(await nudged(await load({ nodes: [microsoft] })))).toEqual(['Constant', 'Mul', 'DynamicQuantizeMatMul'])
})

test('names that the model uses are not taken', async () => {
  const model = await nudged(await load({ nodes: [quantiser('assay_nudge_0')] }))
  const names = model.graph.node.flatMap((node) => node.output)
  expect(names).not.toContain('assay_nudge_0')
  expect(new Set(names).size).toBe(names.length)
})

test('a nudge that the dtype rounds away is refused', async () => {
  const model = await load({ nodes: [quantiser()] })
  expect(() => nudgeQuantisers(model, 1e-9)).toThrow(/1 \+ 1e-9 is 1 in float32/)
})
