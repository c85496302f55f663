import { create } from '@bufbuild/protobuf'
import { expect, test } from 'vitest'
import { AttributeProtoSchema, NodeProtoSchema } from '../generated/onnx-ml_pb.ts'
import { findArithmetic } from './arithmetic.ts'

function node(opType: string, ints: Record<string, number> = {}) {
  const attribute = Object.entries(ints).map(([name, value]) =>
    create(AttributeProtoSchema, { name, i: BigInt(value), type: 2 }),
  )
  return create(NodeProtoSchema, { opType, attribute })
}

const IMAGE = [2, 6, 5, 4]

test.each([
  ['GlobalAveragePool', {}, IMAGE, [2, 6, 1, 1], 18, 20],
  ['ReduceMean', {}, IMAGE, [2, 5, 4], 18, 6],
  ['ReduceMax', {}, IMAGE, [2], 18, 1],
  ['ReduceSum', {}, [0, 3], [0], 18, 0],
  ['InstanceNormalization', {}, IMAGE, IMAGE, 18, 20],
  ['GroupNormalization', { num_groups: 3 }, IMAGE, IMAGE, 18, 40],
  ['MeanVarianceNormalization', {}, IMAGE, IMAGE, 13, 40],
  ['LayerNormalization', { axis: -2 }, IMAGE, IMAGE, 17, 20],
  ['LayerNormalization', {}, IMAGE, IMAGE, 17, 4],
  ['Softmax', {}, IMAGE, IMAGE, 13, 4],
  ['Softmax', { axis: 1 }, IMAGE, IMAGE, 13, 6],
  ['Softmax', {}, IMAGE, IMAGE, 11, 120],
  ['LogSoftmax', { axis: 2 }, IMAGE, IMAGE, 11, 20],
  ['CumSum', {}, IMAGE, IMAGE, 14, 6],
  ['MatMul', {}, [4, 4000], [4, 4], 18, 1],
  ['Relu', {}, IMAGE, IMAGE, 18, 1],
] as const)('%s %j of %j adds up', (op, attributes, input, output, opset, terms) => {
  expect(findArithmetic(node(op, attributes), { input, output, opset }).terms).toBe(terms)
})

test('an op of another domain is not known', () => {
  const other = create(NodeProtoSchema, { opType: 'GlobalAveragePool', domain: 'example' })
  expect(findArithmetic(other, { input: IMAGE, output: [2, 6, 1, 1], opset: 1 })).toEqual({
    terms: 1,
    aroundOne: false,
  })
})

test.each([
  ['Sigmoid', true],
  ['Tanh', false],
  ['Relu', false],
])('%s computes around one: %s', (op, aroundOne) => {
  expect(findArithmetic(node(op), { input: IMAGE, output: IMAGE, opset: 13 })).toEqual({ terms: 1, aroundOne })
})
