import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf'
import { DTYPES, type DType } from '../domain/dtype.ts'
import { countBytes, type Tensor, type ValueKind } from '../domain/tensor.ts'
import {
  type AttributeProto,
  AttributeProtoSchema,
  AttributeProto_AttributeType as AttributeType,
  FunctionProtoSchema,
  type GraphProto,
  GraphProtoSchema,
  ModelProtoSchema,
  type NodeProto,
  NodeProtoSchema,
  type TensorProto,
  TensorShapeProtoSchema,
  type TypeProto,
  TypeProtoSchema,
  ValueInfoProtoSchema,
} from './generated/onnx-ml_pb.ts'
import { referTo } from './tensors/refer-weights.ts'
import { tensorToProto } from './tensors/tensor-proto.ts'

/** A bigint is an INT, a number a FLOAT. */
type AttributeValue =
  | bigint
  | number
  | string
  | readonly bigint[]
  | readonly number[]
  | readonly string[]
  | Tensor
  | GraphParts

export interface NodeParts {
  readonly op: string
  readonly inputs?: readonly string[]
  readonly outputs: readonly string[]
  readonly attributes?: Readonly<Record<string, AttributeValue>>
  readonly name?: string
  readonly domain?: string
}

interface ValueParts {
  readonly name: string
  readonly dtype?: DType
  readonly shape?: readonly (number | string)[]
  readonly kind?: Exclude<ValueKind, 'map'>
}

/** A tensor whose bytes lie in a file beside the model. */
export interface ExternalParts {
  readonly name: string
  readonly dtype: DType
  readonly shape: readonly number[]
  readonly location: string
  readonly offset: number
}

export interface GraphParts {
  readonly nodes: readonly NodeParts[]
  readonly inputs?: readonly ValueParts[]
  readonly outputs: readonly ValueParts[]
  readonly initializers?: Readonly<Record<string, Tensor>>
  readonly external?: readonly ExternalParts[]
  readonly name?: string
}

interface FunctionParts {
  readonly name: string
  readonly domain: string
  readonly inputs: readonly string[]
  readonly outputs: readonly string[]
  readonly nodes: readonly NodeParts[]
}

export interface ModelParts extends GraphParts {
  readonly opset?: number
  readonly ir?: number
  /** Further operator sets, version by domain. */
  readonly domains?: Readonly<Record<string, number>>
  readonly functions?: readonly FunctionParts[]
}

/** A small model from its parts. */
export function buildModel(parts: ModelParts): Uint8Array {
  const opset = parts.opset ?? 17
  const opsetImport = Object.entries({ '': opset, ...parts.domains }).map(([domain, version]) => ({
    domain,
    version: BigInt(version),
  }))
  const functions = (parts.functions ?? []).map((fn) =>
    create(FunctionProtoSchema, {
      name: fn.name,
      domain: fn.domain,
      input: [...fn.inputs],
      output: [...fn.outputs],
      node: fn.nodes.map(buildNode),
      opsetImport,
    }),
  )
  const model = create(ModelProtoSchema, {
    irVersion: BigInt(parts.ir ?? 8),
    producerName: 'assay',
    opsetImport,
    graph: buildGraph(parts),
    functions,
  })
  return toBinary(ModelProtoSchema, model)
}

function buildGraph(parts: GraphParts): GraphProto {
  return create(GraphProtoSchema, {
    name: parts.name ?? 'graph',
    node: parts.nodes.map(buildNode),
    input: (parts.inputs ?? []).map(buildValue),
    output: parts.outputs.map(buildValue),
    initializer: [
      ...Object.entries(parts.initializers ?? {}).map(([name, tensor]) => tensorToProto(name, tensor)),
      ...(parts.external ?? []).map(buildExternal),
    ],
  })
}

function buildExternal({ name, dtype, shape, location, offset }: ExternalParts): TensorProto {
  const tensor = tensorToProto(name, { dtype, shape, bytes: new Uint8Array(0) })
  return referTo(tensor, { location, offset, byteLength: countBytes(dtype, shape) ?? 0 })
}

function buildNode({ op, inputs, outputs, attributes, name, domain }: NodeParts): NodeProto {
  return create(NodeProtoSchema, {
    opType: op,
    input: [...(inputs ?? [])],
    output: [...outputs],
    name: name ?? '',
    domain: domain ?? '',
    attribute: Object.entries(attributes ?? {}).map(([key, value]) => buildAttribute(key, value)),
  })
}

function buildAttribute(name: string, value: AttributeValue): AttributeProto {
  return create(AttributeProtoSchema, { ...attributeContent(value), name })
}

type AttributeContent = MessageInitShape<typeof AttributeProtoSchema>

function attributeContent(value: AttributeValue): AttributeContent {
  const text = new TextEncoder()
  if (typeof value === 'bigint') return { type: AttributeType.INT, i: value }
  if (typeof value === 'number') return { type: AttributeType.FLOAT, f: value }
  if (typeof value === 'string') return { type: AttributeType.STRING, s: text.encode(value) }
  if (isList(value)) return listContent(value)
  if ('nodes' in value) return { type: AttributeType.GRAPH, g: buildGraph(value) }
  return { type: AttributeType.TENSOR, t: tensorToProto('', value) }
}

type ListValue = readonly bigint[] | readonly number[] | readonly string[]

function isList(value: ListValue | Tensor | GraphParts): value is ListValue {
  return Array.isArray(value)
}

function listContent(value: ListValue): AttributeContent {
  const items: (bigint | number | string)[] = [...value]
  const floats = items.filter((item) => typeof item === 'number')
  if (floats.length > 0) return { type: AttributeType.FLOATS, floats }
  const strings = items.filter((item) => typeof item === 'string')
  if (strings.length > 0)
    return { type: AttributeType.STRINGS, strings: strings.map((item) => new TextEncoder().encode(item)) }
  return { type: AttributeType.INTS, ints: items.filter((item) => typeof item === 'bigint') }
}

function buildValue({ name, dtype, shape, kind }: ValueParts) {
  return create(ValueInfoProtoSchema, dtype ? { name, type: buildType(dtype, shape, kind ?? 'tensor') } : { name })
}

function buildType(dtype: DType, shape: ValueParts['shape'], kind: 'tensor' | 'sequence' | 'optional'): TypeProto {
  const dim = shape?.map((size) =>
    typeof size === 'number'
      ? { value: { case: 'dimValue' as const, value: BigInt(size) } }
      : { value: { case: 'dimParam' as const, value: size } },
  )
  const content = { elemType: DTYPES[dtype].onnx, ...(dim ? { shape: create(TensorShapeProtoSchema, { dim }) } : {}) }
  const tensor = create(TypeProtoSchema, { value: { case: 'tensorType', value: content } })
  if (kind === 'tensor') return tensor
  const wrapped = kind === 'sequence' ? 'sequenceType' : 'optionalType'
  return create(TypeProtoSchema, { value: { case: wrapped, value: { elemType: tensor } } })
}
