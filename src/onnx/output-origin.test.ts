import { tmpdir } from 'node:os'
import { expect, test } from 'vitest'
import { buildModel, type GraphParts, type NodeParts } from './builder.ts'
import { modelFromBytes } from './model.ts'
import { outputOrigin } from './output-origin.ts'

async function origin(nodes: readonly NodeParts[], outputs = ['y']) {
  const inputs = [{ name: 'x', dtype: 'float32' }] as const
  const bytes = buildModel({
    nodes,
    inputs,
    outputs: outputs.map((name) => ({ name })),
    domains: { 'com.microsoft': 1 },
  })
  return outputOrigin(await modelFromBytes(bytes, tmpdir()), 'y')
}

const node = (op: string, inputs: string, outputs: string, attributes: NodeParts['attributes'] = {}): NodeParts => ({
  op,
  inputs: inputs.split(' '),
  outputs: outputs.split(' '),
  attributes,
})
const plain = { kind: 'plain' }
const quantised = { kind: 'quantised' }

const argmax = { kind: 'index', op: 'ArgMax', tensor: 'x', axis: 1, keepDims: false, largest: true }
const argmaxNode = node('ArgMax', 'x', 'a', { axis: 1n, keepdims: 0n })

const cases: [string, object, readonly NodeParts[]][] = [
  ['a graph input', plain, []],
  ['a float op', plain, [node('Relu', 'x', 'y')]],
  ['QuantizeLinear', quantised, [node('QuantizeLinear', 'x s z', 'y')]],
  ['DynamicQuantizeLinear', quantised, [node('DynamicQuantizeLinear', 'x', 'y s z')]],
  ['the scale of DynamicQuantizeLinear', plain, [node('DynamicQuantizeLinear', 'x', 'q y z')]],
  ['the zero point of DynamicQuantizeLinear', quantised, [node('DynamicQuantizeLinear', 'x', 'q s y')]],
  ['QLinearAdd of com.microsoft', quantised, [{ ...node('QLinearAdd', 'x', 'y'), domain: 'com.microsoft' }]],
  ['QuantizeLinear of a foreign domain', plain, [{ ...node('QuantizeLinear', 'x', 'y'), domain: 'my' }]],
  [
    'quantised values moved about',
    quantised,
    [
      node('QuantizeLinear', 'x s', 'q'),
      node('Transpose', 'q', 'a'),
      node('Concat', 'a q', 'b'),
      node('Cast', 'b', 'y', { to: 6n }),
    ],
  ],
  ['quantised and other values joined', plain, [node('QuantizeLinear', 'x s', 'q'), node('Concat', 'q other', 'y')]],
  ['dequantised values', plain, [node('QuantizeLinear', 'x s', 'q'), node('DequantizeLinear', 'q s', 'y')]],
  ['quantised values cast to float', plain, [node('QuantizeLinear', 'x s', 'q'), node('Cast', 'q', 'y', { to: 1n })]],
  ['MatMulInteger', plain, [node('MatMulInteger', 'x w', 'y')]],
  ['ArgMax', argmax, [argmaxNode, node('Identity', 'a', 'y')]],
  [
    'ArgMax that asks for the last of equal values',
    { ...argmax, axis: 0, keepDims: true, last: true },
    [node('ArgMax', 'x', 'y', { select_last_index: 1n })],
  ],
  [
    'ArgMax that says it does not',
    { ...argmax, axis: 0, keepDims: true },
    [node('ArgMax', 'x', 'y', { select_last_index: 0n })],
  ],
  ['ArgMax with defaults', { ...argmax, axis: 0, keepDims: true }, [node('ArgMax', 'x', 'y')]],
  [
    'ArgMax reshaped and cast',
    argmax,
    [argmaxNode, node('Cast', 'a', 'b', { to: 6n }), node('Reshape', 'b s', 'c'), node('Unsqueeze', 'c n', 'y')],
  ],
  ['ArgMax transposed', plain, [argmaxNode, node('Transpose', 'a', 'y')]],
  ['ArgMax as float', plain, [argmaxNode, node('Cast', 'a', 'y', { to: 1n })]],
  ['ArgMax plus one', plain, [argmaxNode, node('Add', 'a one', 'y')]],
  [
    'ArgMin',
    { ...argmax, op: 'ArgMin', axis: -1, keepDims: true, largest: false },
    [node('ArgMin', 'x', 'y', { axis: -1n })],
  ],
  [
    'indices of TopK',
    { kind: 'index', op: 'TopK', tensor: 'x', axis: -1, keepDims: true, largest: true },
    [node('TopK', 'x k', 'v y')],
  ],
  [
    'indices of the smallest',
    { kind: 'index', op: 'TopK', tensor: 'x', axis: 2, keepDims: true, largest: false },
    [node('TopK', 'x k', 'v y', { axis: 2n, largest: 0n })],
  ],
  ['values of TopK', plain, [node('TopK', 'x k', 'y i')]],
  [
    'NonMaxSuppression',
    { kind: 'index', op: 'NonMaxSuppression', tensor: 'scores', axis: 2, keepDims: true },
    [node('NonMaxSuppression', 'boxes scores', 'y')],
  ],
  ['a value that depends on itself', plain, [node('Identity', 'y', 'y')]],
  ['values that depend on each other', plain, [node('Concat', 'y b', 'b'), node('Concat', 'b b', 'y')]],
]
test.each(cases)('%s', async (_, expectedOrigin, nodes) => {
  expect(await origin(nodes)).toEqual(expectedOrigin)
})

const branch = (nodes: readonly NodeParts[], output: string): GraphParts => ({ nodes, outputs: [{ name: output }] })
const when = (then_branch: GraphParts, else_branch: GraphParts) => [node('If', 'c', 'y', { then_branch, else_branch })]

test('branches count where they agree', async () => {
  const quantise = branch([node('QuantizeLinear', 'x s', 't')], 't')
  const index = branch([argmaxNode], 'a')
  expect(await origin(when(quantise, quantise))).toEqual(quantised)
  expect(await origin(when(index, index))).toEqual(argmax)
  expect(await origin(when(index, quantise))).toEqual(plain)
  expect(await origin(when(index, branch([node('Relu', 'x', 'r')], 'r')))).toEqual(plain)
})

test('an index into a tensor that only a branch knows is plain, even if the name exists outside', async () => {
  const own = branch([node('Relu', 'z', 'x'), argmaxNode], 'a')
  expect(await origin(when(own, own))).toEqual(plain)
})

test('an indexed tensor is found under the name of the output that equals it', async () => {
  const nodes = [node('Relu', 'x', 'r'), node('Identity', 'r', 'logits'), node('ArgMax', 'r', 'y')]
  expect(await origin(nodes, ['y', 'logits'])).toMatchObject({ kind: 'index', tensor: 'logits' })
  const behind = [node('Identity', 'x', 'r'), node('ArgMax', 'r', 'y')]
  expect(await origin(behind)).toMatchObject({ tensor: 'x' })
})

test('a long chain ends without exhausting the stack, and doubling chains without taking forever', async () => {
  const chain = Array.from({ length: 20_000 }, (_, i) => node('Identity', i === 0 ? 'x' : `v${i}`, `v${i + 1}`))
  expect(await origin([...chain, node('Identity', 'v20000', 'y')])).toEqual(plain)
  const doubling = Array.from({ length: 100 }, (_, i) => node('Concat', `v${i} v${i}`, `v${i + 1}`))
  expect(await origin([node('QuantizeLinear', 'x s', 'v0'), ...doubling, node('Identity', 'v100', 'y')])).toEqual(
    quantised,
  )
})
