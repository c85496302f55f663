import { create } from '@bufbuild/protobuf'
import { encodeBigInts } from '../../tensors/encode.ts'
import {
  AttributeProto_AttributeType,
  AttributeProtoSchema,
  type NodeProto,
  NodeProtoSchema,
} from '../generated/onnx-ml_pb.ts'
import { tensorToProto } from '../tensors/tensor-proto.ts'

/** A node that gives a list of whole numbers. */
export function constantNode(name: string, values: readonly bigint[]): NodeProto {
  const t = tensorToProto('', { dtype: 'int64', shape: [values.length], bytes: encodeBigInts('int64', values) })
  const value = create(AttributeProtoSchema, { name: 'value', type: AttributeProto_AttributeType.TENSOR, t })
  return create(NodeProtoSchema, { opType: 'Constant', name, output: [name], attribute: [value] })
}
