import { expect, test } from 'vitest'
import { SkipCase } from '../../domain/errors.ts'
import type { TensorSpec } from '../../domain/tensor.ts'
import { buildModel } from '../builder.ts'
import { flatten } from '../flatten.ts'
import { modelFacts, modelFromBytes, writeModel } from '../model.ts'
import { inferDTypes } from '../taps.ts'
import { findLayer, indexFlat } from './layer-border.ts'
import { layerModel, namelessModel } from './layer-model.ts'

const one = { dtype: 'float32', shape: [1], bytes: new Uint8Array(new Float32Array([1]).buffer) } as const
const two = { dtype: 'float32', shape: [1], bytes: new Uint8Array(new Float32Array([2]).buffer) } as const

/** a + one, (a + one) + one, … + two, then Softmax along two axes. */
async function layers() {
  const softmax = (name: string, axis: bigint) => ({
    op: 'Softmax',
    name,
    inputs: ['d'],
    outputs: [name],
    attributes: { axis },
  })
  const bytes = buildModel({
    inputs: [{ name: 'a', dtype: 'float32', shape: [2, 2] }],
    outputs: [{ name: 'rows' }, { name: 'columns' }],
    initializers: { one, same: one, two },
    nodes: [
      { op: 'Add', name: 'first', inputs: ['a', 'one'], outputs: ['b'] },
      { op: 'Add', name: 'second', inputs: ['b', 'same'], outputs: ['c'] },
      { op: 'Add', name: 'third', inputs: ['c', 'two'], outputs: ['d'] },
      softmax('rows', 0n),
      softmax('columns', 1n),
    ],
  })
  const original = await modelFromBytes(bytes, '.')
  const flat = flatten(original, new Map())
  const index = indexFlat(flat)
  const source = { original, flat, dtypes: inferDTypes(flat) }
  return { source, cut: [...flat.nodes.values()].map((node) => findLayer([node], index)) }
}

const given = (name: string, shape: readonly number[]) => new Map([[name, { name, dtype: 'float32' as const, shape }]])

test('layers that compute the same have the same bytes without their names, all others do not', async () => {
  const { source, cut } = await layers()
  const nameless = async (i: number, shape = [2, 2]) => {
    const proto = await layerModel(source, cut[i]!, given(cut[i]!.inputs[0]!, shape))
    return Buffer.from(writeModel(namelessModel(proto))).toString('base64')
  }
  const [first, second, third, rows, columns] = await Promise.all([0, 1, 2, 3, 4].map((i) => nameless(i)))
  expect(second).toBe(first)
  expect(third).not.toBe(first)
  expect(columns).not.toBe(rows)
  expect(await nameless(1, [4, 1])).not.toBe(first)
})

test('a layer keeps its own names, and taking them away leaves it alone', async () => {
  const { source, cut } = await layers()
  const proto = await layerModel(source, cut[1]!, given('b', [2, 2]))
  namelessModel(proto)
  const { node, input, output, initializer } = proto.graph!
  expect([node[0]!.name, node[0]!.input, input[0]!.name, output[0]!.name, initializer[0]!.name]).toEqual([
    'second',
    ['b', 'same'],
    'b',
    'c',
    'same',
  ])
})

test('weights that no ONNX file can hold are a skip', async () => {
  const { source, cut } = await layers()
  const [weight] = cut[0]!.weights
  const huge = { ...cut[0]!, weights: [{ ...weight!, dims: [2n ** 30n] }] }
  await expect(layerModel(source, huge, given('a', [2, 2]))).rejects.toThrow(SkipCase)
})

test('a layer declares the outputs that were recorded, and no others', async () => {
  const { source, cut } = await layers()
  const recorded = new Map([...given('b', [2, 2]), ...given('c', [2, 2])])
  const declared = async (values: ReadonlyMap<string, TensorSpec>) => {
    const proto = await layerModel(source, cut[1]!, values)
    return modelFacts(proto, proto.graph!).outputs
  }
  expect(await declared(recorded)).toEqual([{ name: 'c', kind: 'tensor', dtype: 'float32', shape: [2, 2] }])
  expect(await declared(given('b', [2, 2]))).toEqual([{ name: 'c', kind: 'tensor', dtype: null, shape: null }])
})
