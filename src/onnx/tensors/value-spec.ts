import { dtypeFromOnnx } from '../../domain/dtype.ts'
import type { ValueSpec } from '../../domain/tensor.ts'
import type { GraphProto, TensorShapeProto, TypeProto, ValueInfoProto } from '../generated/onnx-ml_pb.ts'

type Content = Pick<ValueSpec, 'kind' | 'dtype' | 'shape'>

const UNKNOWN: Content = { kind: 'tensor', dtype: null, shape: null }

/** A graph's inputs, without those that have an initializer. */
export function inputSpecs(graph: GraphProto): ValueSpec[] {
  const given = new Set(graph.initializer.map(({ name }) => name))
  for (const { values } of graph.sparseInitializer) if (values) given.add(values.name)
  return graph.input.filter(({ name }) => !given.has(name)).map(valueSpec)
}

/** A model may list an output more than once; it is one value all the same. */
export function uniqueOutputs(graph: GraphProto): ValueSpec[] {
  return [...new Map(graph.output.map((output) => [output.name, valueSpec(output)])).values()]
}

/** Sequences and optionals tell dtype and shape of the tensors inside; sparse and opaque types are unknown. */
export function valueSpec({ name, type }: ValueInfoProto): ValueSpec {
  return { name, ...contentOf(type) }
}

function contentOf(type: TypeProto | undefined): Content {
  const value = type?.value
  switch (value?.case) {
    case 'tensorType':
      return { kind: 'tensor', dtype: dtypeFromOnnx(value.value.elemType) ?? null, shape: shapeOf(value.value.shape) }
    case 'sequenceType':
      return { ...inner(value.value.elemType), kind: 'sequence' }
    case 'optionalType':
      return { ...inner(value.value.elemType), kind: 'optional' }
    case 'mapType':
      return { kind: 'map', dtype: null, shape: null }
    default:
      return UNKNOWN
  }
}

function inner(type: TypeProto | undefined): Content {
  const content = contentOf(type)
  if (content.kind === 'tensor') return content
  const element = content.kind === 'sequence' && type?.value.case === 'sequenceType' ? content : UNKNOWN
  return { ...element }
}

function shapeOf(shape: TensorShapeProto | undefined): ValueSpec['shape'] {
  return shape
    ? shape.dim.map(({ value }) => dimension(value.case === 'dimParam' ? value.value || null : value.value))
    : null
}

/** Exporters write −1 and the like for a size they do not know. */
function dimension(value: string | bigint | null | undefined): number | string | null {
  if (typeof value !== 'bigint') return value ?? null
  return value >= 0n && value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : null
}
