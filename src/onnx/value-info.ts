import { create } from '@bufbuild/protobuf'
import { DTYPES } from '../domain/dtype.ts'
import type { TensorSpec } from '../domain/tensor.ts'
import {
  TensorShapeProtoSchema,
  TypeProtoSchema,
  type ValueInfoProto,
  ValueInfoProtoSchema,
} from './generated/onnx-ml_pb.ts'

/** Declares a tensor; by its name alone where nothing is known about it. */
export function valueInfo(name: string, spec: Pick<TensorSpec, 'dtype' | 'shape'> | undefined): ValueInfoProto {
  if (!spec) return create(ValueInfoProtoSchema, { name })
  const dim = spec.shape.map((size) => ({ value: { case: 'dimValue' as const, value: BigInt(size) } }))
  const shape = create(TensorShapeProtoSchema, { dim })
  const type = create(TypeProtoSchema, {
    value: { case: 'tensorType', value: { elemType: DTYPES[spec.dtype].onnx, shape } },
  })
  return create(ValueInfoProtoSchema, { name, type })
}
