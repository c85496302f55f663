import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Tensor } from '../../domain/tensor.ts'
import { encodeNumbers } from '../../tensors/encode.ts'
import { buildModel, type ModelParts, type NodeParts } from '../builder.ts'
import { modelFromBytes, readModel } from '../model.ts'
import { keepLastLogits } from './last-logits.ts'

const ones = (...shape: number[]): Tensor => {
  const count = shape.reduce((a, b) => a * b, 1)
  return { dtype: 'float32', shape, bytes: encodeNumbers('float32', new Array(count).fill(1)) }
}
const bytes = (...shape: number[]): Tensor => ({
  ...ones(...shape),
  dtype: 'uint8',
  bytes: new Uint8Array(shape[0]! * shape[1]!),
})

const node = (op: string, inputs: string[], ...outputs: string[]): NodeParts => ({
  op,
  inputs,
  outputs,
  name: outputs[0]!,
})

function modelOf(nodes: readonly NodeParts[], more: Partial<ModelParts> = {}): Uint8Array {
  return buildModel({
    nodes,
    inputs: [{ name: 'x', dtype: 'float32', shape: ['batch', 'sequence', 2] }],
    outputs: [{ name: 'logits', dtype: 'float32', shape: ['batch', 'sequence', 3] }],
    initializers: { w: ones(2, 3), turned: ones(3, 2), b: ones(3), deep: ones(1, 1, 3), wq: bytes(2, 3), one: ones() },
    ...more,
  })
}

/** Ops in order with what goes in, without constants. */
async function cut(model: Uint8Array) {
  const { bytes: edited, note } = keepLastLogits(await modelFromBytes(model, '.'))
  if (!edited) return { note, nodes: null, shape: null }
  const { graph, outputs } = await modelFromBytes(edited, '.')
  const nodes = graph.node.filter(({ opType }) => opType !== 'Constant')
  return {
    note,
    nodes: nodes.map(({ opType, input, output }) => `${opType} ${input[0]} ${output[0]}`),
    shape: outputs.find(({ name }) => name === 'logits')!.shape,
  }
}

describe('a decoder is cut to its last logits', () => {
  test('before the projection', async () => {
    expect(await cut(modelOf([node('MatMul', ['x', 'w'], 'logits')]))).toEqual({
      note: 'logits of the last position alone, cut before MatMul "logits"',
      nodes: ['Slice x assay_last_0', 'MatMul assay_last_0 logits'],
      shape: ['batch', 1, 3],
    })
  })

  test.each<[string, NodeParts[]]>([
    ['a bias', [node('MatMul', ['x', 'w'], 'y'), node('Add', ['b', 'y'], 'logits')]],
    ['a scale', [node('MatMul', ['x', 'w'], 'y'), node('Div', ['y', 'one'], 'logits')]],
    [
      'a soft limit',
      [
        node('MatMul', ['x', 'w'], 'y'),
        node('Div', ['y', 'one'], 'less'),
        node('Tanh', ['less'], 'bent'),
        node('Mul', ['bent', 'one'], 'logits'),
      ],
    ],
    [
      'weights that the embedding shares',
      [node('Transpose', ['turned'], 'head'), node('MatMul', ['x', 'head'], 'logits')],
    ],
    [
      'a scale that quantising on the fly gives',
      [
        node('DynamicQuantizeLinear', ['x'], 'xq', 'scale', 'zero'),
        node('MatMulInteger', ['xq', 'wq', 'zero'], 'sums'),
        node('Mul', ['scale', 'one'], 'both'),
        node('Cast', ['sums'], 'y'),
        node('Mul', ['y', 'both'], 'logits'),
      ],
    ],
  ])('where %s follows or joins', async (_, nodes) => {
    const { note, nodes: edited } = await cut(modelOf(nodes))
    expect(note).toMatch(/^logits of the last position alone, cut before MatMul/)
    expect(edited!.findIndex((text) => text.startsWith('Slice'))).toBe(
      edited!.findIndex((text) => text.startsWith('MatMul')) - 1,
    )
  })

  test.each<[string, NodeParts[], Partial<ModelParts>]>([
    ['there is no projection', [node('Softmax', ['x'], 'logits')], {}],
    ['it goes on with all positions', [node('MatMul', ['x', 'w'], 'y'), node('CumSum', ['y', 'axis'], 'logits')], {}],
    ['its weights are computed', [node('MatMul', ['x', 'v'], 'logits')], {}],
    ['what is added may differ by position', [node('MatMul', ['x', 'w'], 'y'), node('Add', ['y', 'v'], 'logits')], {}],
    [
      'a third dimension may come from what is added',
      [node('MatMul', ['x', 'w'], 'y'), node('Add', ['y', 'deep'], 'logits')],
      {},
    ],
    [
      'another output shows what is projected',
      [node('MatMul', ['x', 'w'], 'y'), node('Neg', ['y'], 'logits')],
      { outputs: [{ name: 'logits', dtype: 'float32', shape: ['b', 's', 3] }, { name: 'y' }] },
    ],
  ])('behind everything where %s', async (_, nodes, more) => {
    const { note, nodes: edited, shape } = await cut(modelOf(nodes, more))
    expect(note).toMatch(/^logits of all positions are computed and then cut/)
    expect(edited!.at(-1)).toBe('Slice assay_last_0 logits')
    expect(shape![1]).toBe(1)
  })

  test('in both branches of a merged one', async () => {
    const outputs = (name: string) => [{ name, dtype: 'float32', shape: ['batch', 'sequence', 3] } as const]
    const then_branch = { nodes: [node('MatMul', ['x', 'w'], 'one_way')], outputs: outputs('one_way') }
    const else_branch = { nodes: [node('Softmax', ['x'], 'other_way')], outputs: outputs('other_way') }
    const If: NodeParts = { op: 'If', inputs: ['cond'], outputs: ['both'], attributes: { then_branch, else_branch } }
    const model = modelOf([If, node('Identity', ['both'], 'logits')])
    const { bytes: edited, note } = keepLastLogits(await modelFromBytes(model, '.'))
    const [taken, other] = (await modelFromBytes(edited!, '.')).graph.node[0]!.attribute.map(({ g }) => g!)
    expect(taken!.node.map(({ opType }) => opType).filter((op) => op !== 'Constant')).toEqual(['Slice', 'MatMul'])
    expect(other!.node.at(-1)!.opType).toBe('Slice')
    expect(other!.output[0]!.name).toBe(other!.node.at(-1)!.output[0])
    expect(note).toContain('then cut')
  })

  test('in the form that its operator set has', async () => {
    const model = modelOf([node('MatMul', ['x', 'w'], 'logits')], { opset: 9 })
    const { bytes: edited } = keepLastLogits(await modelFromBytes(model, '.'))
    const slice = (await modelFromBytes(edited!, '.')).graph.node[0]!
    expect(slice.attribute.map(({ name, ints }) => [name, ints[0]])).toEqual([
      ['starts', -1n],
      ['ends', 2n ** 63n - 1n],
      ['axes', 1n],
    ])
  })

  test('and large weights stay in the original file', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'assay-last-'))
    const path = join(folder, 'model.onnx')
    const model = modelOf([node('MatMul', ['x', 'w'], 'logits')], { initializers: { w: ones(2, 20_000) } })
    await writeFile(path, model)
    const { bytes: edited } = keepLastLogits(await readModel(path))
    expect(edited!.length).toBeLessThan(2000)
    expect((await modelFromBytes(edited!, folder)).externalFiles.map(({ location }) => location)).toEqual([
      'model.onnx',
    ])
  })
})

test.each<[string, Partial<ModelParts>, string]>([
  [
    'is asked for a number of positions',
    { inputs: [{ name: 'x' }, { name: 'num_logits_to_keep', dtype: 'int64', shape: [] }] },
    'logits of the last position alone, which "num_logits_to_keep" asks for',
  ],
  [
    'gives one position',
    { outputs: [{ name: 'logits', dtype: 'float32', shape: ['b', 1, 3] }] },
    'logits of the last position alone, as exported',
  ],
  [
    'declares no positions',
    { outputs: [{ name: 'logits' }] },
    'logits of all positions: the graph declares no "logits" with three dimensions',
  ],
])('a decoder that %s stays as it is', async (_, more, note) => {
  expect(await cut(modelOf([node('MatMul', ['x', 'w'], 'logits')], more))).toMatchObject({ note, nodes: null })
})
