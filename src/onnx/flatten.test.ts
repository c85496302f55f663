import { describe, expect, test } from 'vitest'
import type { Tensor } from '../domain/tensor.ts'
import { encodeNumbers } from '../tensors/encode.ts'
import { buildModel, type GraphParts, type NodeParts } from './builder.ts'
import { type Branch, flatten } from './flatten.ts'
import { modelFromBytes, type OnnxModel } from './model.ts'

const floats = (...values: number[]): Tensor => ({
  dtype: 'float32',
  shape: [values.length],
  bytes: encodeNumbers('float32', values),
})

const branch = (nodes: readonly NodeParts[], outputs: readonly string[], parts: Partial<GraphParts> = {}) => ({
  nodes,
  outputs: outputs.map((name) => ({ name })),
  ...parts,
})

function modelOf(nodes: readonly NodeParts[], outputs: readonly string[] = ['y']): Promise<OnnxModel> {
  const bytes = buildModel({
    nodes,
    inputs: [
      { name: 'x', dtype: 'float32', shape: [1] },
      { name: 'cond', dtype: 'bool', shape: [] },
    ],
    outputs: outputs.map((name) => ({ name, dtype: 'float32', shape: [1] })),
  })
  return modelFromBytes(bytes, '.')
}

/** `Op(inputs) → outputs` of every node. */
async function flat(nodes: readonly NodeParts[], taken: Record<string, Branch>, outputs?: readonly string[]) {
  const { graph, undecided } = flatten(await modelOf(nodes, outputs), new Map(Object.entries(taken)))
  return {
    nodes: graph.node.map(({ opType, input, output }) => `${opType}(${input.join(', ')}) → ${output.join(', ')}`),
    weights: graph.initializer.map(({ name }) => name),
    undecided: Object.fromEntries(undecided),
  }
}

const choice: NodeParts = {
  op: 'If',
  inputs: ['cond'],
  outputs: ['y'],
  attributes: {
    then_branch: branch([{ op: 'Add', inputs: ['x', 'w'], outputs: ['t'] }], ['t'], { initializers: { w: floats(1) } }),
    else_branch: branch([{ op: 'Neg', inputs: ['x'], outputs: ['t'] }], ['t']),
  },
}

describe('an If', () => {
  test('that is not decided stays, and says what it depends on', async () => {
    expect(await flat([choice], {})).toEqual({ nodes: ['If(cond) → y'], weights: [], undecided: { 0: 'cond' } })
  })

  test('gives way to its branch, which makes its output; weights come along', async () => {
    expect(await flat([choice], { 0: 'then_branch' })).toMatchObject({ nodes: ['Add(x, w) → y'], weights: ['w'] })
    expect(await flat([choice], { 0: 'else_branch' })).toMatchObject({ nodes: ['Neg(x) → y'], weights: [] })
  })

  test('whose branch hands an outer value or a weight through copies it', async () => {
    const through = branch([], ['x'])
    const constant = branch([], ['w'], { initializers: { w: floats(1) } })
    const node = { ...choice, attributes: { then_branch: through, else_branch: constant } }
    expect((await flat([node], { 0: 'then_branch' })).nodes).toEqual(['Identity(x) → y'])
    expect((await flat([node], { 0: 'else_branch' })).nodes).toEqual(['Identity(w) → y'])
  })

  test('whose branch gives one value twice copies it once', async () => {
    const twice = branch([{ op: 'Neg', inputs: ['x'], outputs: ['t'] }], ['t', 't'])
    const node = { ...choice, outputs: ['y', 'z'], attributes: { then_branch: twice, else_branch: twice } }
    const { nodes } = await flat([node], { 0: 'then_branch' }, ['y', 'z'])
    expect(nodes).toEqual(['Neg(x) → y', 'Identity(y) → z'])
  })

  test('whose branch uses a name that means something else outside gets another', async () => {
    const inner = branch(
      [
        { op: 'Neg', inputs: ['x'], outputs: ['t'] },
        { op: 'Abs', inputs: ['t'], outputs: ['u'] },
      ],
      ['u'],
    )
    const nodes: NodeParts[] = [
      { ...choice, attributes: { then_branch: inner, else_branch: inner } },
      { op: 'Exp', inputs: ['x'], outputs: ['t'] },
    ]
    expect((await flat(nodes, { 0: 'then_branch' })).nodes).toEqual(['Neg(x) → t_2', 'Abs(t_2) → y', 'Exp(x) → t'])
  })

  test('inside a branch is seen when the outer one is decided, and takes the outer names', async () => {
    const inner: NodeParts = {
      op: 'If',
      inputs: ['c2'],
      outputs: ['t'],
      attributes: {
        then_branch: branch([{ op: 'Abs', inputs: ['n'], outputs: ['v'] }], ['v']),
        else_branch: branch([{ op: 'Exp', inputs: ['n'], outputs: ['v'] }], ['v']),
      },
    }
    const outer = branch(
      [{ op: 'Neg', inputs: ['x'], outputs: ['n'] }, { op: 'Not', inputs: ['cond'], outputs: ['c2'] }, inner],
      ['t'],
    )
    const nodes: NodeParts[] = [
      { op: 'Sin', inputs: ['x'], outputs: ['n'] },
      { ...choice, attributes: { then_branch: outer, else_branch: outer } },
    ]
    const first = await flat(nodes, { 1: 'else_branch' })
    expect(first.undecided).toEqual({ '1/else_branch/2': 'c2' })
    expect(first.nodes).toEqual(['Sin(x) → n', 'Neg(x) → n_2', 'Not(cond) → c2', 'If(c2) → y'])
    const second = await flat(nodes, { 1: 'else_branch', '1/else_branch/2': 'then_branch' })
    expect(second.nodes.at(-1)).toBe('Abs(n_2) → y')
    expect(second.undecided).toEqual({})
  })
})

test('a node of a branch that is called like one outside loses its name', async () => {
  const inner = branch([{ op: 'Neg', name: 'twin', inputs: ['x'], outputs: ['t'] }], ['t'])
  const nodes: NodeParts[] = [
    { op: 'Exp', name: 'twin', inputs: ['x'], outputs: ['e'] },
    { ...choice, attributes: { then_branch: inner, else_branch: inner } },
  ]
  const { graph } = flatten(await modelOf(nodes), new Map([['1', 'then_branch']]))
  expect(graph.node.map(({ name }) => name)).toEqual(['twin', ''])
})

test('the original is left as it was', async () => {
  const model = await modelOf([choice])
  flatten(model, new Map([['0', 'then_branch']]))
  expect(model.graph.node.map(({ opType }) => opType)).toEqual(['If'])
  expect(model.graph.initializer).toEqual([])
})
