import { fromBinary } from '@bufbuild/protobuf'
import { describe, expect, test } from 'vitest'
import { tensor } from '../../test/support/small-models.ts'
import { buildModel, type GraphParts, type ModelParts, type NodeParts } from './builder.ts'
import { ModelProtoSchema } from './generated/onnx-ml_pb.ts'
import { randomOrigins } from './random-origin.ts'

const node = (op: string, inputs: string, outputs: string, attributes: NodeParts['attributes'] = {}): NodeParts => ({
  op,
  name: op.toLowerCase(),
  inputs: inputs === '' ? [] : inputs.split(' '),
  outputs: outputs.split(' '),
  attributes,
})

/** What reaches `y` of a model that has also an output `z`. */
function originOf(nodes: readonly NodeParts[], more: Partial<ModelParts> = {}, given = new Map<string, number>()) {
  const inputs = [{ name: 'x', dtype: 'float32' }] as const
  const parts = { nodes, inputs, outputs: [{ name: 'y' }, { name: 'z' }], initializers: CONSTANTS, ...more }
  return randomOrigins(fromBinary(ModelProtoSchema, buildModel(parts)), given)('y')
}

const bool = (value: number) => tensor('bool', [], [value])
const CONSTANTS = {
  on: bool(1),
  off: bool(0),
  half: tensor('float32', [], [0.5]),
  nothing: tensor('float32', [], [0]),
  shape: tensor('int64', [1], [3n]),
}
const noise = node('RandomNormalLike', 'x', 'n', { seed: 1 })
const value = (name: string) => ({ name, dtype: 'float32' }) as const

describe('random values reach an output', () => {
  test.each([
    ['RandomNormal', node('RandomNormal', '', 'y', { shape: [3n], seed: 1 })],
    ['RandomUniform', node('RandomUniform', '', 'y', { shape: [3n] })],
    ['RandomNormalLike', node('RandomNormalLike', 'x', 'y')],
    ['RandomUniformLike', node('RandomUniformLike', 'x', 'y')],
    ['Multinomial', node('Multinomial', 'x', 'y')],
    ['Bernoulli', node('Bernoulli', 'x', 'y')],
    ['Dropout', node('Dropout', 'x half on', 'y')],
    ['Dropout', { ...node('Dropout', 'x', 'y'), inputs: ['x', '', 'on'] }],
    ['Dropout', node('Dropout', 'x half on', 'kept y')],
    ['Dropout', node('Dropout', 'x half unknown', 'y')],
  ])('of %s', (op, made) => {
    expect(originOf([made])).toBe(`${op} "${op.toLowerCase()}"`)
  })

  test('through other nodes, a branch, a condition, a loop that gives them back, and functions', () => {
    const label = 'RandomNormalLike "randomnormallike"'
    expect(originOf([noise, node('Add', 'x n', 'a'), node('Relu', 'a', 'y')])).toBe(label)
    const branch = (nodes: readonly NodeParts[], name: string): GraphParts => ({ nodes, outputs: [value(name)] })
    const plain = branch([node('Neg', 'x', 'p')], 'p')
    const random = branch([node('RandomNormalLike', 'x', 'r')], 'r')
    expect(originOf([node('If', 'on', 'y', { then_branch: plain, else_branch: random })])).toBe(`${label} in If "if"`)
    const decided = [noise, node('Cast', 'n', 'c', { to: 9n })]
    expect(originOf([...decided, node('If', 'c', 'y', { then_branch: plain, else_branch: plain })])).toBe(label)
    const captured = branch([node('Neg', 'n', 'p')], 'p')
    expect(originOf([noise, node('If', 'on', 'y', { then_branch: plain, else_branch: captured })])).toBe(label)
    const fn = { name: 'Noisy', domain: 'my', inputs: ['a', 'b'], outputs: ['o'], nodes: [node('Add', 'a b', 'o')] }
    const calls = [
      noise,
      { ...node('Noisy', 'x x', 'z'), domain: 'my' },
      { ...node('Noisy', 'x n', 'y'), domain: 'my' },
    ]
    expect(originOf(calls, { functions: [fn], domains: { my: 1 } })).toBe(label)
    const inside = { ...fn, nodes: [node('RandomNormalLike', 'a', 'o')] }
    const call = { ...node('Noisy', 'x x', 'y'), domain: 'my' }
    expect(originOf([call], { functions: [inside], domains: { my: 1 } })).toBe(`${label} in function Noisy`)
  })

  test('from one turn of a loop to the next', () => {
    // The first state holds what the second was, and the second is noise.
    const body = (second: NodeParts): GraphParts => ({
      inputs: [{ name: 'i' }, { name: 'c' }, { name: 's' }, { name: 't' }],
      nodes: [node('Identity', 'c', 'more'), node('Identity', 't', 's2'), second],
      outputs: [value('more'), value('s2'), value('t2')],
    })
    const loop = (second: NodeParts) => node('Loop', 'shape on x x', 'y z', { body: body(second) })
    expect(originOf([loop(node('RandomNormalLike', 't', 't2'))])).toBe(
      'RandomNormalLike "randomnormallike" in Loop "loop"',
    )
    expect(originOf([loop(node('Neg', 't', 't2'))])).toBeNull()
  })

  test('in training, as old models ask for it', () => {
    expect(originOf([node('Dropout', 'x', 'y')], { opset: 6 })).toBe('Dropout "dropout"')
    expect(originOf([node('Dropout', 'x', 'y', { is_test: 1n })], { opset: 6 })).toBeNull()
    expect(originOf([node('Dropout', 'x', 'y', { ratio: 0 })], { opset: 6 })).toBeNull()
    expect(originOf([node('Dropout', 'x', 'y', { ratio: 0.5 })], { opset: 10 })).toBeNull()
  })
})

describe('no random value reaches an output', () => {
  test.each<[string, readonly NodeParts[]]>([
    ['that something else makes', [noise, node('Add', 'x n', 'z'), node('Relu', 'x', 'y')]],
    ['that only their shape leads to', [noise, node('Shape', 'n', 's'), node('ConstantOfShape', 's', 'y')]],
    ['of a Dropout that is off', [node('Dropout', 'x half off', 'y')]],
    ['of a Dropout without training', [node('Dropout', 'x half', 'y')]],
    ['of a Dropout of nothing', [node('Dropout', 'x nothing on', 'y')]],
    ['of the mask of a Dropout that is off', [noise, node('Dropout', 'n half off', 'z y')]],
    [
      'of a Dropout whose mode is computed from a constant',
      [
        node('Constant', '', 'c', { value: tensor('float32', [], [0]) }),
        node('Cast', 'c', 'm', { to: 9n }),
        node('Dropout', 'x half m', 'y'),
      ],
    ],
  ])('%s', (_title, nodes) => {
    expect(originOf(nodes)).toBeNull()
  })

  test('of a Dropout that its inputs turn off, also inside a function and at one of two calls', () => {
    const inputs = ['x', 'ratio', 'mode', 'other'].map(value)
    const given = (ratio: number, mode: number) =>
      new Map([
        ['ratio', ratio],
        ['mode', mode],
        ['other', 1],
      ])
    const drop = [node('Dropout', 'x ratio mode', 'y')]
    expect(originOf(drop, { inputs }, given(0.5, 1))).toBe('Dropout "dropout"')
    expect(originOf(drop, { inputs }, given(0.5, 0))).toBeNull()
    expect(originOf(drop, { inputs }, given(0, 1))).toBeNull()
    const fn = { name: 'Drop', domain: 'my', inputs: ['a', 'm'], outputs: ['o'], nodes: [node('Dropout', 'a', 'o')] }
    const called = { ...fn, nodes: [{ ...node('Dropout', 'a', 'o'), inputs: ['a', '', 'm'] }] }
    const calls = [
      { ...node('Drop', 'x other', 'z'), domain: 'my' },
      { ...node('Drop', 'x mode', 'y'), domain: 'my' },
    ]
    const more = { inputs, functions: [called], domains: { my: 1 } }
    expect(originOf(calls, more, given(0.5, 0))).toBeNull()
    expect(originOf(calls, more, given(0.5, 1))).toBe('Dropout "dropout" in function Drop')
  })

  test('of the other branch output, and of an op of that name in another domain', () => {
    const branch: GraphParts = {
      nodes: [node('Neg', 'x', 'p'), node('RandomNormalLike', 'x', 'r')],
      outputs: [value('p'), value('r')],
    }
    expect(originOf([node('If', 'on', 'y z', { then_branch: branch, else_branch: branch })])).toBeNull()
    expect(originOf([{ ...node('RandomNormal', 'x', 'y'), domain: 'my' }], { domains: { my: 1 } })).toBeNull()
  })
})
