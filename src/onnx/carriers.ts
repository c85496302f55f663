import { create } from '@bufbuild/protobuf'
import { DTYPES, type DType } from '../domain/dtype.ts'
import {
  AttributeProto_AttributeType,
  AttributeProtoSchema,
  type NodeProto,
  NodeProtoSchema,
} from './generated/onnx-ml_pb.ts'

/** Dtypes that runtimes compute with but cannot take or return; they are passed as float32, which is exact. */
const NOT_CARRIED = new Set<DType>(['bfloat16', 'float8e4m3fn', 'float8e4m3fnuz', 'float8e5m2', 'float8e5m2fnuz'])

/** How a value is passed into or out of a model: itself, or a float32 copy. */
export interface Carrier {
  readonly name: string
  /** The value's own dtype, if the carrier has another. */
  readonly castFrom: DType | null
}

export function chooseCarrier(value: string, dtype: DType | undefined): Carrier {
  return dtype && NOT_CARRIED.has(dtype)
    ? { name: `${value}#float32`, castFrom: dtype }
    : { name: value, castFrom: null }
}

/** The dtype that a value of this dtype is passed as. */
export function carriedAs(dtype: DType | undefined): DType | undefined {
  return dtype && NOT_CARRIED.has(dtype) ? 'float32' : dtype
}

/** The node that fills the carrier; none if the value is its own carrier. */
export function castOut(value: string, { name, castFrom }: Carrier): NodeProto[] {
  return castFrom ? [castTo('float32', value, name)] : []
}

/** The node that takes the value from its carrier. */
export function castIn(value: string, { name, castFrom }: Carrier): NodeProto[] {
  return castFrom ? [castTo(castFrom, name, value)] : []
}

function castTo(dtype: DType, from: string, into: string): NodeProto {
  const type = AttributeProto_AttributeType.INT
  const to = create(AttributeProtoSchema, { name: 'to', type, i: BigInt(DTYPES[dtype].onnx) })
  return create(NodeProtoSchema, { opType: 'Cast', input: [from], output: [into], attribute: [to] })
}
