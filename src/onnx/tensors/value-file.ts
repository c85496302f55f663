import { type DescMessage, fromBinary, type MessageShape, toBinary } from '@bufbuild/protobuf'
import { FormatError, SkipCase } from '../../domain/errors.ts'
import type { Tensor, TraceValue, ValueSpec } from '../../domain/tensor.ts'
import { writeFileAtomic } from '../../files/disk/atomic.ts'
import { readExactly, withFile } from '../../files/disk/read-range.ts'
import {
  type OptionalProto,
  OptionalProto_DataType,
  OptionalProtoSchema,
  type SequenceProto,
  SequenceProto_DataType,
  SequenceProtoSchema,
} from '../generated/onnx-data_pb.ts'
import { type TensorProto, TensorProtoSchema } from '../generated/onnx-ml_pb.ts'
import { checkWire } from '../wire.ts'
import { tensorFromProto, tensorToProto } from './tensor-proto.ts'

const MAX_BYTES = 2 ** 31 - 1

/** A value with the tensors it consists of, by their names in a trace. */
export interface StoredValue {
  readonly value: TraceValue
  readonly tensors: ReadonlyMap<string, Tensor>
}

/** Reads `input_0.pb` or `output_0.pb` of an ONNX test as the kind of value that the model declares. */
export async function readValueFile(path: string, spec: ValueSpec): Promise<StoredValue> {
  if (spec.kind === 'map') throw new SkipCase(`"${spec.name}" is a map, which Assay does not compare`)
  if (spec.kind === 'sequence') return sequenceValue(await readMessage(path, SequenceProtoSchema), spec, path)
  if (spec.kind === 'optional') return optionalValue(await readMessage(path, OptionalProtoSchema), spec, path)
  return tensorValue(await readMessage(path, TensorProtoSchema), spec, path)
}

export async function writeTensorFile(path: string, name: string, tensor: Tensor): Promise<void> {
  await writeFileAtomic(path, toBinary(TensorProtoSchema, tensorToProto(name, tensor)))
}

async function readMessage<T extends DescMessage>(path: string, schema: T): Promise<MessageShape<T>> {
  const bytes = await withFile(path, (handle, byteLength) => {
    if (byteLength > MAX_BYTES)
      throw new FormatError('too-large', `${path} has ${byteLength} bytes, protobuf allows 2 GiB`)
    return readExactly(handle, 0, byteLength, path)
  })
  checkWire(schema, bytes, path)
  return fromBinary(schema, bytes)
}

function tensorValue(proto: TensorProto, { name }: ValueSpec, path: string): StoredValue {
  return { value: { name, kind: 'tensor', length: 1 }, tensors: new Map([[name, tensorFromProto(proto, path)]]) }
}

function sequenceValue(proto: SequenceProto, { name }: ValueSpec, path: string): StoredValue {
  const { TENSOR, UNDEFINED } = SequenceProto_DataType
  const { tensorValues, sparseTensorValues, sequenceValues, mapValues, optionalValues } = proto
  const others = [sparseTensorValues, sequenceValues, mapValues, optionalValues]
  if ((proto.elemType !== TENSOR && proto.elemType !== UNDEFINED) || others.some((list) => list.length > 0)) {
    throw new SkipCase(`"${name}" is a sequence of something other than tensors, which Assay does not compare`)
  }
  return elements(name, 'sequence', tensorValues, path)
}

/** An optional that holds a sequence is stored as that sequence. */
function optionalValue(proto: OptionalProto, spec: ValueSpec, path: string): StoredValue {
  const { SPARSE_TENSOR, MAP, OPTIONAL } = OptionalProto_DataType
  if ([SPARSE_TENSOR, MAP, OPTIONAL].some((type) => type === proto.elemType)) {
    throw new SkipCase(`"${spec.name}" is an optional of neither tensor nor sequence, which Assay does not compare`)
  }
  if (proto.sequenceValue) return sequenceValue(proto.sequenceValue, spec, path)
  return elements(spec.name, 'optional', proto.tensorValue ? [proto.tensorValue] : [], path)
}

function elements(name: string, kind: TraceValue['kind'], protos: readonly TensorProto[], path: string): StoredValue {
  const tensors = protos.map((proto, i) => [`${name}#${i}`, tensorFromProto(proto, `element ${i} of ${path}`)] as const)
  return { value: { name, kind, length: protos.length }, tensors: new Map(tensors) }
}
