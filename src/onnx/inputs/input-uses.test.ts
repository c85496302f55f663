import { fromBinary } from '@bufbuild/protobuf'
import { describe, expect, test } from 'vitest'
import type { Tensor } from '../../domain/tensor.ts'
import { encodeNumbers } from '../../tensors/encode.ts'
import { buildModel, type GraphParts, type ModelParts } from '../builder.ts'
import { ModelProtoSchema } from '../generated/onnx-ml_pb.ts'
import { findInputUses, type InputUse } from './input-uses.ts'

type ValueParts = NonNullable<GraphParts['inputs']>[number]

function table(...shape: number[]): Tensor {
  return { dtype: 'float32', shape, bytes: new Uint8Array(4 * shape.reduce((a, b) => a * b, 1)) }
}

function int64(...values: number[]): Tensor {
  return { dtype: 'int64', shape: values.length === 1 ? [] : [values.length], bytes: encodeNumbers('int64', values) }
}

function usesOf(parts: Omit<ModelParts, 'outputs'>): Map<string, InputUse> {
  return findInputUses(
    fromBinary(ModelProtoSchema, buildModel({ outputs: [{ name: 'y', dtype: 'float32' }], ...parts })),
  )
}

const ids: ValueParts = { name: 'ids', dtype: 'int64', shape: ['batch', 'sequence'] }
const x: ValueParts = { name: 'x', dtype: 'float32', shape: ['n', 4] }

describe('index inputs', () => {
  test('are bounded by the table that they look up', () => {
    const uses = usesOf({
      inputs: [ids],
      nodes: [{ op: 'Gather', inputs: ['words', 'ids'], outputs: ['y'], name: 'embed' }],
      initializers: { words: table(30, 8) },
    })
    expect(uses.get('ids')).toEqual({ kind: 'index', low: 0, high: 29, because: 'input 1 of Gather "embed"' })
  })

  test('are bounded along the axis that is gathered, also when it counts from the end', () => {
    const gather = (axis: bigint) =>
      usesOf({
        inputs: [ids],
        nodes: [{ op: 'Gather', inputs: ['words', 'ids'], outputs: ['y'], attributes: { axis } }],
        initializers: { words: table(30, 8) },
      }).get('ids')
    expect(gather(1n)).toMatchObject({ high: 7 })
    expect(gather(-1n)).toMatchObject({ high: 7 })
    expect(gather(-2n)).toMatchObject({ high: 29 })
  })

  test('take the smallest of all tables that they reach', () => {
    const uses = usesOf({
      inputs: [ids],
      nodes: [
        { op: 'Gather', inputs: ['words', 'ids'], outputs: ['a'] },
        { op: 'Gather', inputs: ['kinds', 'ids'], outputs: ['y'] },
      ],
      initializers: { words: table(30, 8), kinds: table(2, 8) },
    })
    expect(uses.get('ids')).toMatchObject({ kind: 'index', low: 0, high: 1 })
  })

  test('are followed through casts, reshapes and a constant that is added', () => {
    const uses = usesOf({
      inputs: [ids],
      nodes: [
        { op: 'Cast', inputs: ['ids'], outputs: ['a'], attributes: { to: 7n } },
        { op: 'Unsqueeze', inputs: ['a', 'axis'], outputs: ['b'] },
        { op: 'Add', inputs: ['b', 'two'], outputs: ['c'] },
        { op: 'Gather', inputs: ['places', 'c'], outputs: ['y'] },
      ],
      initializers: { places: table(514, 8), axis: int64(0), two: int64(2) },
    })
    expect(uses.get('ids')).toMatchObject({ kind: 'index', low: 0, high: 511 })
    expect(uses.get('ids')?.because).toContain('through Cast, Unsqueeze, Add')
  })

  test('that are one too high for the table start at one', () => {
    const uses = usesOf({
      inputs: [ids],
      nodes: [
        { op: 'Sub', inputs: ['ids', 'one'], outputs: ['a'] },
        { op: 'Gather', inputs: ['words', 'a'], outputs: ['y'] },
      ],
      initializers: { words: table(10, 8), one: int64(1) },
    })
    expect(uses.get('ids')).toMatchObject({ kind: 'index', low: 1, high: 10 })
  })

  test('into another input wait for the size of its axis', () => {
    const uses = usesOf({
      inputs: [x, ids],
      nodes: [{ op: 'Gather', inputs: ['x', 'ids'], outputs: ['y'] }],
    })
    expect(uses.get('ids')).toMatchObject({ kind: 'index', high: null, of: { input: 'x', axis: 0 } })
  })

  test('into something unknown claim no bound', () => {
    const uses = usesOf({
      inputs: [x, ids],
      nodes: [
        { op: 'Relu', inputs: ['x'], outputs: ['a'] },
        { op: 'Gather', inputs: ['a', 'ids'], outputs: ['y'] },
      ],
    })
    expect(uses.get('ids')).toMatchObject({ kind: 'index', low: 0, high: null })
    expect(uses.get('ids')).not.toHaveProperty('of')
  })

  test('of tuples fit the shortest axis', () => {
    const uses = usesOf({
      inputs: [ids],
      nodes: [{ op: 'GatherND', inputs: ['cube', 'ids'], outputs: ['y'] }],
      initializers: { cube: table(9, 3, 5) },
    })
    expect(uses.get('ids')).toMatchObject({ kind: 'index', high: 2 })
  })
})

describe('sub-graphs and functions', () => {
  const branch = (name: string): GraphParts => ({
    name,
    nodes: [{ op: 'Gather', inputs: ['words', 'ids'], outputs: [name] }],
    outputs: [{ name, dtype: 'float32' }],
  })

  test('a look-up in the branch of an If is found, and its condition too', () => {
    const uses = usesOf({
      inputs: [ids, { name: 'flag', dtype: 'bool', shape: [] }],
      nodes: [
        {
          op: 'If',
          inputs: ['flag'],
          outputs: ['y'],
          attributes: { then_branch: branch('a'), else_branch: branch('b') },
        },
      ],
      initializers: { words: table(12, 8) },
    })
    expect(uses.get('ids')).toMatchObject({ kind: 'index', high: 11 })
    expect(uses.get('flag')).toMatchObject({ kind: 'condition', value: true })
  })

  test('what leaves the branch of an If is followed on', () => {
    const same = (name: string): GraphParts => ({
      nodes: [{ op: 'Identity', inputs: ['ids'], outputs: [name] }],
      outputs: [{ name, dtype: 'int64' }],
    })
    const uses = usesOf({
      inputs: [ids, { name: 'use_cache_branch', dtype: 'bool', shape: [1] }],
      nodes: [
        {
          op: 'If',
          inputs: ['use_cache_branch'],
          outputs: ['chosen'],
          attributes: { then_branch: same('a'), else_branch: same('b') },
        },
        { op: 'Gather', inputs: ['words', 'chosen'], outputs: ['y'] },
      ],
      initializers: { words: table(12, 8) },
    })
    expect(uses.get('ids')).toMatchObject({ kind: 'index', high: 11 })
    expect(uses.get('use_cache_branch')).toMatchObject({ kind: 'condition', value: false })
  })

  test('a Loop gives its trip count, and its body the values carried into it', () => {
    const body: GraphParts = {
      inputs: [
        { name: 'i', dtype: 'int64', shape: [] },
        { name: 'go', dtype: 'bool', shape: [] },
        { name: 'carried', dtype: 'int64', shape: [2] },
      ],
      nodes: [
        { op: 'Gather', inputs: ['words', 'carried'], outputs: ['row'] },
        { op: 'Identity', inputs: ['go'], outputs: ['again'] },
        { op: 'Identity', inputs: ['carried'], outputs: ['next'] },
      ],
      outputs: [
        { name: 'again', dtype: 'bool' },
        { name: 'next', dtype: 'int64' },
        { name: 'row', dtype: 'float32' },
      ],
    }
    const uses = usesOf({
      inputs: [{ name: 'count', dtype: 'int64', shape: [] }, ids],
      nodes: [{ op: 'Loop', inputs: ['count', '', 'ids'], outputs: ['last', 'y'], attributes: { body } }],
      initializers: { words: table(6, 8) },
    })
    expect(uses.get('count')).toMatchObject({ kind: 'fixed', each: 3 })
    expect(uses.get('ids')).toMatchObject({ kind: 'index', high: 5 })
  })

  test('a name that a sub-graph defines for itself is not the outer input', () => {
    const body: GraphParts = {
      inputs: [
        { name: 'i', dtype: 'int64' },
        { name: 'go', dtype: 'bool' },
        { name: 'ids', dtype: 'int64' },
      ],
      nodes: [{ op: 'Gather', inputs: ['words', 'ids'], outputs: ['row'] }],
      outputs: [
        { name: 'go', dtype: 'bool' },
        { name: 'ids', dtype: 'int64' },
      ],
    }
    const uses = usesOf({
      inputs: [ids, x],
      nodes: [{ op: 'Loop', inputs: ['', '', 'x'], outputs: ['y'], attributes: { body } }],
      initializers: { words: table(6, 8) },
    })
    expect(uses.get('ids')?.because).toBe('by its name only')
    expect(uses.get('x')).toMatchObject({ kind: 'index', high: 5 })
  })

  test('a function is entered', () => {
    const uses = usesOf({
      inputs: [x],
      nodes: [{ op: 'LogOf', domain: 'own', inputs: ['x'], outputs: ['y'] }],
      domains: { own: 1 },
      functions: [
        {
          name: 'LogOf',
          domain: 'own',
          inputs: ['value'],
          outputs: ['result'],
          nodes: [{ op: 'Log', inputs: ['value'], outputs: ['result'] }],
        },
      ],
    })
    expect(uses.get('x')).toMatchObject({ kind: 'range' })
  })

  test('a graph that leads in circles ends', () => {
    const uses = usesOf({
      inputs: [ids],
      nodes: [
        { op: 'Add', inputs: ['ids', 'one'], outputs: ['a'] },
        { op: 'Add', inputs: ['a', 'one'], outputs: ['a'] },
      ],
      initializers: { one: int64(1) },
    })
    expect(uses.get('ids')).toMatchObject({ because: 'by its name only' })
  })
})

describe('other uses', () => {
  const one = (op: string, position: number, dtype: ValueParts['dtype'], shape: ValueParts['shape'] = [4]) => {
    const inputs = Array.from({ length: position }, (_, i) => `other${i}`)
    return usesOf({
      inputs: [{ name: 'v', dtype: dtype!, shape: shape! }, x],
      nodes: [{ op, inputs: [...inputs, 'v'], outputs: ['y'] }],
    }).get('v')
  }

  test.each([
    ['Reshape', 1, 'int64', { kind: 'fixed', each: 1, last: -1 }],
    ['Expand', 1, 'int64', { kind: 'fixed', each: 1 }],
    ['Unsqueeze', 1, 'int64', { kind: 'fixed', each: 0, step: 1 }],
    ['TopK', 1, 'int64', { kind: 'fixed', each: 1 }],
    ['Log', 0, 'float32', { kind: 'range', low: 0.1 }],
    ['Acosh', 0, 'float32', { kind: 'range', low: 1.1 }],
    ['Div', 1, 'float32', { kind: 'nonzero' }],
    ['DequantizeLinear', 0, 'uint8', { kind: 'quantised' }],
    ['DequantizeLinear', 1, 'float32', { kind: 'range', low: 0.01 }],
    ['QLinearMatMul', 2, 'uint8', { kind: 'zero-point' }],
    ['OneHot', 0, 'int64', { kind: 'index', high: 9 }],
    ['Relu', 0, 'float32', { kind: 'plain' }],
    ['Div', 0, 'float32', { kind: 'plain' }],
  ] as const)('input of %s at %i', (op, position, dtype, use) => {
    expect(one(op, position, dtype)).toMatchObject(use)
  })

  test('sequence lengths of a recurrent layer follow its input', () => {
    const uses = usesOf({
      inputs: [x, { name: 'until', dtype: 'int32', shape: ['batch'] }],
      nodes: [{ op: 'LSTM', inputs: ['x', 'w', 'r', '', 'until'], outputs: ['y'] }],
    })
    expect(uses.get('until')).toMatchObject({ kind: 'length', input: 'x', axis: 0 })
  })

  test('1 − x of whole numbers is a mask', () => {
    const uses = usesOf({
      inputs: [{ name: 'visible', dtype: 'int64', shape: [1, 8] }],
      nodes: [
        { op: 'Cast', inputs: ['visible'], outputs: ['a'], attributes: { to: 1n } },
        { op: 'Sub', inputs: ['one', 'a'], outputs: ['y'] },
      ],
      initializers: { one: { dtype: 'float32', shape: [], bytes: encodeNumbers('float32', [1]) } },
    })
    expect(uses.get('visible')).toMatchObject({ kind: 'mask' })
  })

  test.each([
    ['attention_mask', 'int64', ['b', 's'], { kind: 'mask' }],
    ['position_ids', 'int64', ['b', 's'], { kind: 'positions', high: null }],
    ['sr', 'int64', [], { kind: 'fixed', each: 16_000 }],
    ['input_lengths', 'int64', ['b'], { kind: 'length', input: 'x', axis: 1 }],
    ['input_ids', 'int64', ['b', 's'], { kind: 'index', high: 9 }],
    ['threshold', 'float32', [], { kind: 'plain' }],
  ] as const)('the name %s alone is weak evidence, and says so', (name, dtype, shape, use) => {
    const uses = usesOf({
      inputs: [
        { name: 'x', dtype: 'float32', shape: ['b', 't'] },
        { name, dtype, shape },
      ],
      nodes: [{ op: 'Custom', inputs: [name, 'x'], outputs: ['y'] }],
    })
    expect(uses.get(name)).toMatchObject(use)
    if (use.kind !== 'plain') expect(uses.get(name)?.because).toBe('by its name only')
  })

  test('initializers that are listed as inputs are no inputs', () => {
    const uses = usesOf({
      inputs: [x, { name: 'w', dtype: 'float32', shape: [4, 4] }],
      nodes: [{ op: 'MatMul', inputs: ['x', 'w'], outputs: ['y'] }],
      initializers: { w: table(4, 4) },
    })
    expect([...uses.keys()]).toEqual(['x'])
  })
})
