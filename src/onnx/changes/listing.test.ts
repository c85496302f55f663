import { fromBinary } from '@bufbuild/protobuf'
import { describe, expect, test } from 'vitest'
import { encodeBigInts, encodeNumbers } from '../../tensors/encode.ts'
import { buildModel, type ModelParts } from '../builder.ts'
import { ModelProtoSchema, TensorProto_DataLocation } from '../generated/onnx-ml_pb.ts'
import { listModel } from './listing.ts'

const floats = (values: number[], shape = [values.length]) =>
  ({ dtype: 'float32', shape, bytes: encodeNumbers('float32', values) }) as const

function protoOf(parts: ModelParts) {
  return fromBinary(ModelProtoSchema, buildModel(parts))
}

const X = { name: 'x', dtype: 'float32', shape: ['batch', 3] } as const
const Y = { name: 'y', dtype: 'float32', shape: [1, 3] } as const

describe('a listing', () => {
  test('has a line for every input, output, constant and node', () => {
    const proto = protoOf({
      inputs: [X],
      outputs: [Y],
      initializers: {
        small: floats([1, 0.1, -2]),
        large: floats(new Array(17).fill(0)),
        axes: { dtype: 'int64', shape: [1], bytes: encodeBigInts('int64', [-1n]) },
      },
      domains: { 'com.example': 1 },
      nodes: [
        { op: 'Mul', inputs: ['x', 'small'], outputs: ['scaled'], name: 'scale' },
        {
          op: 'Fused',
          domain: 'com.example',
          inputs: ['scaled', '', 'large'],
          outputs: ['y', ''],
          attributes: { pads: [1n, 2n], alpha: 0.2, mode: 'up', scales: [0.5], c: floats([3], []) },
        },
      ],
    })
    expect(listModel(proto)).toMatchInlineSnapshot(`
      "ir version 8, opset ai.onnx 17, com.example 1, from assay
      inputs (1)
        %x: float32[batch,3]
      outputs (1)
        %y: float32[1,3]
      constants (3)
        @small: float32[3] {1,0.1,-2}
        @large: float32[17] … 68 B
        @axes: int64[1] {-1}
      nodes (2)
        %scaled = Mul(%x, @small) "scale"
        %y: float32[1,3], _ = com.example.Fused(%scaled, _, @large) {pads=[1,2], alpha=0.2, mode="up", scales=[0.5], c=float32[] {3}}
      "
    `)
  })

  test('indents sub-graphs, which see the constants around them, and lists functions', () => {
    const branch = (op: string) => ({
      nodes: [{ op, inputs: ['x', 'w'], outputs: ['b'] }],
      outputs: [{ name: 'b', dtype: 'float32' as const }],
    })
    const proto = protoOf({
      inputs: [X, { name: 'c', dtype: 'bool', shape: [] }],
      outputs: [Y],
      initializers: { w: floats([1]) },
      domains: { own: 1 },
      functions: [
        {
          name: 'Twice',
          domain: 'own',
          inputs: ['a'],
          outputs: ['b'],
          nodes: [{ op: 'Add', inputs: ['a', 'a'], outputs: ['b'] }],
        },
      ],
      nodes: [
        {
          op: 'If',
          inputs: ['c'],
          outputs: ['i'],
          attributes: { then_branch: branch('Add'), else_branch: branch('Sub') },
        },
        { op: 'Twice', domain: 'own', inputs: ['i'], outputs: ['y'] },
      ],
    })
    expect(listModel(proto).split('\n').slice(8).join('\n')).toMatchInlineSnapshot(`
      "nodes (2)
        %i = If(%c) {then_branch=graph below, else_branch=graph below}
          then_branch
            outputs (1)
              %b: float32
            nodes (1)
              %b: float32 = Add(%x, @w)
          else_branch
            outputs (1)
              %b: float32
            nodes (1)
              %b: float32 = Sub(%x, @w)
        %y: float32[1,3] = own.Twice(%i)
      function own.Twice(%a) -> (%b)
        nodes (1)
          %b = Add(%a, %a)
      "
    `)
  })

  test('does not read weights that lie in other files', () => {
    const proto = protoOf({ inputs: [X], outputs: [Y], initializers: { w: floats([1, 2]) }, nodes: [] })
    const [w] = proto.graph!.initializer
    w!.rawData = new Uint8Array(0)
    w!.dataLocation = TensorProto_DataLocation.EXTERNAL
    w!.externalData = [{ $typeName: 'onnx.StringStringEntryProto', key: 'location', value: 'no/such.bin' }]
    expect(listModel(proto)).toContain('@w: float32[2] in "no/such.bin"')
  })

  test('says what is wrong with a tensor and goes on', () => {
    const proto = protoOf({ inputs: [X], outputs: [Y], initializers: { w: floats([1, 2]) }, nodes: [] })
    proto.graph!.initializer[0]!.rawData = new Uint8Array(3)
    expect(listModel(proto)).toContain('@w: float32[2] (tensor "w" is not valid: it has 3 bytes of data')
  })

  test('is inert: names that steer a terminal or fill it are shown escaped and cut', () => {
    const evil = `\u001b[2J\n${'n'.repeat(1_000_000)}`
    const proto = protoOf({
      inputs: [{ ...X, name: evil, shape: [evil] }],
      outputs: [Y],
      domains: { [evil]: 1 },
      nodes: [
        { op: evil, domain: evil, name: evil, inputs: [evil], outputs: ['y'], attributes: { [evil]: evil, s: [evil] } },
      ],
    })
    const text = listModel(proto)
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/)
    expect(text.split('\n')).toHaveLength(8)
    expect(text.length).toBeLessThan(4000)
  })
})
