import { create, fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf'
import { describe, expect, test } from 'vitest'
import { DTYPES, type DType } from '../../domain/dtype.ts'
import { SkipCase } from '../../domain/errors.ts'
import { countBytes, elementCount, type Tensor } from '../../domain/tensor.ts'
import { decodeBigInts, decodeNumbers } from '../../tensors/decode.ts'
import { decodeStrings, encodeStrings } from '../../tensors/strings.ts'
import { TensorProtoSchema } from '../generated/onnx-ml_pb.ts'
import { tensorFromProto, tensorToProto } from './tensor-proto.ts'

type Init = MessageInitShape<typeof TensorProtoSchema>

const read = (init: Init) => tensorFromProto(create(TensorProtoSchema, init))

function numbers({ dtype, shape, bytes }: Tensor): number[] {
  const perElement = DTYPES[dtype].kind === 'complex' ? 2 : 1
  const out = new Float64Array(elementCount(shape) * perElement)
  decodeNumbers(dtype, bytes, 0, elementCount(shape), out)
  return [...out]
}

test.each(Object.keys(DTYPES) as DType[])('%s makes the round trip', (dtype) => {
  const bytes = dtype === 'string' ? encodeStrings(['a', 'é', '']) : new Uint8Array(countBytes(dtype, [3])!).fill(5)
  const tensor = { dtype, shape: [3], bytes }
  const message = toBinary(TensorProtoSchema, tensorToProto('x', tensor))
  expect(tensorFromProto(fromBinary(TensorProtoSchema, message))).toEqual(tensor)
})

describe('typed fields are read', () => {
  const cases: [DType, Init, number[]][] = [
    ['float32', { floatData: [1.5, -2] }, [1.5, -2]],
    ['float64', { doubleData: [1.5, -1e300] }, [1.5, -1e300]],
    ['complex64', { floatData: [1, 2, 3, 4] }, [1, 2, 3, 4]],
    ['complex128', { doubleData: [1, 2, 3, 4] }, [1, 2, 3, 4]],
    ['int32', { int32Data: [-2147483648, 7] }, [-2147483648, 7]],
    ['int16', { int32Data: [-32768, 7] }, [-32768, 7]],
    ['int8', { int32Data: [-128, 127] }, [-128, 127]],
    ['uint16', { int32Data: [65535, 0] }, [65535, 0]],
    ['uint8', { int32Data: [255, 1] }, [255, 1]],
    ['bool', { int32Data: [1, 0] }, [1, 0]],
    ['float16', { int32Data: [0x3c00, 0xc000] }, [1, -2]],
    ['bfloat16', { int32Data: [0x3f80, 0xc000] }, [1, -2]],
    ['float8e4m3fn', { int32Data: [0x38, 0xc0] }, [1, -2]],
    ['float8e5m2', { int32Data: [0x3c, 0xc0] }, [1, -2]],
    ['int4', { int32Data: [0xf1] }, [1, -1]],
    ['int4', { int32Data: [-15] }, [1, -1]],
    ['uint4', { int32Data: [0xf1] }, [1, 15]],
    ['float4e2m1', { int32Data: [0xc2] }, [1, -2]],
    ['int2', { int32Data: [0x0d] }, [1, -1]],
    ['uint2', { int32Data: [0x0d] }, [1, 3]],
    ['uint32', { uint64Data: [4294967295n, 1n] }, [4294967295, 1]],
  ]
  test.each(cases)('%s', (dtype, init, values) => {
    expect(numbers(read({ dims: [2n], dataType: DTYPES[dtype].onnx, ...init }))).toEqual(values)
  })

  test('64-bit integers exactly', () => {
    const signed = read({ dims: [2n], dataType: 7, int64Data: [2n ** 63n - 1n, -(2n ** 63n)] })
    expect(decodeBigInts('int64', signed.bytes, 0, 2)).toEqual([2n ** 63n - 1n, -(2n ** 63n)])
    const unsigned = read({ dims: [1n], dataType: 13, uint64Data: [2n ** 64n - 1n] })
    expect(decodeBigInts('uint64', unsigned.bytes, 0, 1)).toEqual([2n ** 64n - 1n])
  })

  test('strings', () => {
    const data = ['a', '', 'ü'].map((text) => new TextEncoder().encode(text))
    expect(decodeStrings(read({ dims: [3n], dataType: 8, stringData: data }).bytes, 3)).toEqual(['a', '', 'ü'])
  })
})

test('scalars and empty tensors need no dims or data', () => {
  expect(read({ dataType: 1, floatData: [3] })).toMatchObject({ shape: [] })
  expect(read({ dataType: 1, dims: [0n, 5n] })).toEqual({ dtype: 'float32', shape: [0, 5], bytes: new Uint8Array(0) })
})

describe('what does not fit is refused', () => {
  const cases: [string, Init, RegExp][] = [
    [
      'too few raw bytes',
      { dims: [2n], dataType: 1, rawData: new Uint8Array(7) },
      /7 bytes of data, but float32 .* takes 8/,
    ],
    ['too many raw bytes', { dims: [2n], dataType: 1, rawData: new Uint8Array(9) }, /takes 8/],
    ['no data at all', { dims: [2n], dataType: 1 }, /0 bytes of data/],
    ['too many entries', { dims: [1n], dataType: 1, floatData: [1, 2] }, /2 entries in floatData, expected 1/],
    ['data in two fields', { dims: [1n], dataType: 1, floatData: [1], rawData: new Uint8Array(4) }, /two fields/],
    ['data in the wrong field', { dims: [1n], dataType: 1, int32Data: [1] }, /float32 data in int32Data/],
    ['an entry out of range', { dims: [1n], dataType: 3, int32Data: [200] }, /out of range/],
    ['a bool out of range', { dims: [1n], dataType: 9, int32Data: [-1] }, /out of range/],
    ['a uint32 out of range', { dims: [1n], dataType: 12, uint64Data: [2n ** 32n] }, /out of range/],
    ['a negative dimension', { dims: [-1n], dataType: 1 }, /a dimension of -1/],
    ['dimensions that overflow', { dims: [2n ** 40n, 2n ** 40n], dataType: 1 }, /more than can be stored/],
    ['a dimension beyond 2^53', { dims: [2n ** 60n], dataType: 1 }, /a dimension of/],
    ['a thousand dimensions', { dims: new Array<bigint>(1000).fill(1n), dataType: 1 }, /1000 dimensions/],
    ['a segment', { dims: [1n], dataType: 1, floatData: [1], segment: { begin: 0n, end: 1n } }, /segment/],
    [
      'external data',
      { dims: [1n], dataType: 1, externalData: [{ key: 'location', value: '/etc/passwd' }] },
      /another file/,
    ],
    ['too few strings', { dims: [2n], dataType: 8, stringData: [new Uint8Array(1)] }, /1 strings/],
    ['strings that are not UTF-8', { dims: [1n], dataType: 8, stringData: [Uint8Array.of(255)] }, /not UTF-8/],
    ['strings in raw_data', { dims: [1n], dataType: 8, rawData: new Uint8Array(4) }, /outside string_data/],
  ]
  test.each(cases)('%s', (_, init, message) => {
    expect(() => read(init)).toThrow(message)
  })
})

test('a dtype that cannot be decoded is a skip, not an error', () => {
  expect(() => read({ dims: [1n], dataType: 27 })).toThrow(SkipCase)
})
