import { expect, test } from 'vitest'
import { tensor } from '../../../test/support/small-models.ts'
import { buildModel, type NodeParts } from '../builder.ts'
import { modelFromBytes } from '../model.ts'
import { findAskedShapes } from './asked-shapes.ts'

const zeros = (...shape: number[]) => {
  const values = new Array<number>(shape.reduce((product, size) => product * size, 1)).fill(0)
  return tensor('float32', shape, values)
}

/** What `y = nodes(x)` asks of x, with weights w and one number c. */
async function askedOf(weights: ReturnType<typeof zeros>, ...nodes: NodeParts[]) {
  const initializers = { w: weights, c: zeros(1) }
  const parts = { inputs: [{ name: 'x', dtype: 'float32' as const }], outputs: [{ name: 'y' }], initializers, nodes }
  const { proto } = await modelFromBytes(buildModel(parts), '.')
  const { rank, sizes } = findAskedShapes(proto).get('x')!
  return [rank, Object.fromEntries([...sizes].map(([axis, { size }]) => [axis, size]))]
}

const node = (op: string, from: string, to: string, more: Partial<NodeParts> = {}): NodeParts => {
  return { op, inputs: [from, 'w'], outputs: [to], ...more }
}

test('a convolution asks for axes and channels', async () => {
  expect(await askedOf(zeros(8, 3, 5, 5), node('Conv', 'x', 'y'))).toEqual([4, { 1: 3 }])
  const grouped = { attributes: { group: 4n } }
  expect(await askedOf(zeros(8, 1, 5), node('Conv', 'x', 'y', grouped))).toEqual([3, { 1: 4 }])
  expect(await askedOf(zeros(6, 8, 5), node('ConvTranspose', 'x', 'y'))).toEqual([3, { 1: 6 }])
})

test('a product asks for its last axis', async () => {
  expect(await askedOf(zeros(80, 4), node('MatMul', 'x', 'y'))).toEqual([null, { '-1': 80 }])
  const transposed = { attributes: { transB: 1n } }
  expect(await askedOf(zeros(4, 80), node('Gemm', 'x', 'y', transposed))).toEqual([2, { 1: 80 }])
})

test('a recurrent layer asks for three axes', async () => {
  expect(await askedOf(zeros(1, 16, 40), node('GRU', 'x', 'y'))).toEqual([3, { 2: 40 }])
})

test('what keeps the shape, or only turns it, hands it on', async () => {
  const scaled: NodeParts = { op: 'Mul', inputs: ['c', 'x'], outputs: ['s'] }
  expect(await askedOf(zeros(8, 3, 5, 5), scaled, node('Conv', 's', 'y'))).toEqual([4, { 1: 3 }])
  const turned: NodeParts = {
    op: 'Transpose',
    inputs: ['x'],
    outputs: ['t'],
    attributes: { perm: [0n, 3n, 1n, 2n] },
  }
  expect(await askedOf(zeros(8, 3, 5, 5), turned, node('Conv', 't', 'y'))).toEqual([4, { 3: 3 }])
})

test('what changes the shape asks for nothing', async () => {
  const reshaped: NodeParts = { op: 'Reshape', inputs: ['x', 'c'], outputs: ['r'] }
  expect(await askedOf(zeros(8, 3, 5, 5), reshaped, node('Conv', 'r', 'y'))).toEqual([null, {}])
})

test('a constant that is added or multiplied asks for its own axes', async () => {
  expect(await askedOf(zeros(80, 1, 3), node('Mul', 'x', 'y'))).toEqual([null, { '-3': 80, '-1': 3 }])
})

test.each(['__proto__', 'constructor', 'toString'])('an operator called %s asks for nothing', async (op) => {
  expect(await askedOf(zeros(8, 3), node(op, 'x', 'y'))).toEqual([null, {}])
})
