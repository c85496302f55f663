import { isUtf8 } from 'node:buffer'
import { create } from '@bufbuild/protobuf'
import { DTYPES, type DType, dtypeFromOnnx } from '../../domain/dtype.ts'
import { FormatError, SkipCase } from '../../domain/errors.ts'
import { elementCount, formatShape, type Tensor } from '../../domain/tensor.ts'
import { encodeBigInts } from '../../tensors/encode.ts'
import { joinBytes } from '../../tensors/join-bytes.ts'
import { decodeStrings } from '../../tensors/strings.ts'
import { type TensorProto, TensorProtoSchema } from '../generated/onnx-ml_pb.ts'
import { isExternal } from './external-data.ts'
import { checkShape } from './tensor-shape.ts'

type TypedField = 'floatData' | 'int32Data' | 'stringData' | 'int64Data' | 'doubleData' | 'uint64Data'

const TYPED_FIELDS: readonly TypedField[] = [
  'floatData',
  'int32Data',
  'stringData',
  'int64Data',
  'doubleData',
  'uint64Data',
]

/** A tensor whose data lies inside the message; its bytes may be a view into the file's. */
export function tensorFromProto(proto: TensorProto, what = `tensor "${proto.name}"`): Tensor {
  const problem = (text: string) => new FormatError('tensor', `${what} is not valid: it has ${text}; write it again`)
  const dtype = dtypeFromOnnx(proto.dataType)
  if (!dtype) throw new SkipCase(`${what} has ONNX dtype ${proto.dataType}, which Assay cannot decode`)
  if (isExternal(proto)) throw problem('its data in another file where it must be inside')
  if (proto.segment) throw problem('only a segment of its data')
  const { shape, count } = checkShape(proto.dims, problem)
  const bytes = dtype === 'string' ? stringBytes(proto, problem) : dataBytes(proto, dtype, count, problem)
  checkCount(proto, dtype, shape, bytes, problem)
  return { dtype, shape, bytes }
}

type Problem = (text: string) => FormatError

function dataBytes(proto: TensorProto, dtype: DType, count: number, problem: Problem): Uint8Array {
  const used = TYPED_FIELDS.filter((field) => proto[field].length > 0)
  if (used.length + (proto.rawData.length > 0 ? 1 : 0) > 1) throw problem('its data in two fields')
  const field = used[0]
  if (!field) return proto.rawData
  if (field !== typedField(dtype)) throw problem(`its ${dtype} data in ${field}`)
  if (proto[field].length !== entryCount(dtype, count)) {
    throw problem(`${proto[field].length} entries in ${field}, expected ${entryCount(dtype, count)}`)
  }
  return typedBytes(proto, dtype, problem)
}

function typedField(dtype: DType): TypedField {
  if (dtype === 'float32' || dtype === 'complex64') return 'floatData'
  if (dtype === 'float64' || dtype === 'complex128') return 'doubleData'
  if (dtype === 'int64') return 'int64Data'
  if (dtype === 'uint32' || dtype === 'uint64') return 'uint64Data'
  return dtype === 'string' ? 'stringData' : 'int32Data'
}

/** Complex numbers take two entries; an entry of a sub-byte dtype is a whole byte. */
function entryCount(dtype: DType, count: number): number {
  const { kind, bits } = DTYPES[dtype]
  return kind === 'complex' ? count * 2 : bits < 8 ? Math.ceil((count * bits) / 8) : count
}

function typedBytes(proto: TensorProto, dtype: DType, problem: Problem): Uint8Array {
  switch (typedField(dtype)) {
    case 'floatData':
      return bytesOf(Float32Array.from(proto.floatData))
    case 'doubleData':
      return bytesOf(Float64Array.from(proto.doubleData))
    case 'int64Data':
      return encodeBigInts('int64', proto.int64Data)
    case 'uint64Data':
      return inRange(() => encodeBigInts(dtype, proto.uint64Data), problem)
    default:
      return int32Bytes(proto.int32Data, dtype, problem)
  }
}

/** Signed dtypes hold their value, all others (16-bit floats, packed nibbles …) their bit pattern. */
function int32Bytes(data: readonly number[], dtype: DType, problem: Problem): Uint8Array {
  const { kind, bits } = DTYPES[dtype]
  const unsigned = bits === 16 ? 'uint16' : 'uint8'
  // Writers differ in whether a packed signed byte is −1 or 255.
  const values = data.map((entry) => BigInt(bits < 8 && entry < 0 && entry >= -128 ? entry + 256 : entry))
  return inRange(() => encodeBigInts(kind === 'int' && bits >= 8 ? dtype : unsigned, values), problem)
}

function inRange(encode: () => Uint8Array, problem: Problem): Uint8Array {
  try {
    return encode()
  } catch (error) {
    throw problem(`an entry out of range (${error instanceof Error ? error.message : String(error)})`)
  }
}

function stringBytes(proto: TensorProto, problem: Problem): Uint8Array {
  if (proto.rawData.length > 0 || TYPED_FIELDS.some((field) => field !== 'stringData' && proto[field].length > 0)) {
    throw problem('strings outside string_data')
  }
  if (!proto.stringData.every((text) => isUtf8(text))) throw problem('strings that are not UTF-8')
  return joinBytes(proto.stringData.flatMap((text) => [bytesOf(Uint32Array.of(text.length)), text]))
}

function checkCount(proto: TensorProto, dtype: DType, shape: number[], bytes: Uint8Array, problem: Problem): void {
  const count = elementCount(shape)
  const needed = dtype === 'string' ? null : Math.ceil((count * DTYPES[dtype].bits) / 8)
  if (needed !== null && bytes.length !== needed) {
    throw problem(`${bytes.length} bytes of data, but ${dtype} of shape ${formatShape(shape)} takes ${needed}`)
  }
  if (needed === null && proto.stringData.length !== count) {
    throw problem(`${proto.stringData.length} strings, but shape ${formatShape(shape)} takes ${count}`)
  }
}

export function tensorToProto(name: string, { dtype, shape, bytes }: Tensor): TensorProto {
  const common = { name, dims: shape.map(BigInt), dataType: DTYPES[dtype].onnx }
  if (dtype !== 'string') return create(TensorProtoSchema, { ...common, rawData: bytes })
  const strings = decodeStrings(bytes, elementCount(shape))
  return create(TensorProtoSchema, { ...common, stringData: strings.map((text) => new TextEncoder().encode(text)) })
}

function bytesOf(array: Float32Array | Float64Array | Uint32Array): Uint8Array {
  return new Uint8Array(array.buffer)
}
