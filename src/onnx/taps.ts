import { create } from '@bufbuild/protobuf'
import type { DType } from '../domain/dtype.ts'
import { type Carrier, castOut, chooseCarrier } from './carriers.ts'
import type { FlatModel } from './flatten.ts'
import { type NodeProto, NodeProtoSchema, ValueInfoProtoSchema } from './generated/onnx-ml_pb.ts'
import { type OnnxModel, writeModel } from './model.ts'
import { referWeights } from './tensors/refer-weights.ts'
import { typedNodes } from './value-types.ts'

export interface TappedModel {
  readonly bytes: Uint8Array
  /** Value → the output that carries it, of its own dtype or as float32. */
  readonly outputs: ReadonlyMap<string, Carrier>
}

/** A copy of a flat model whose outputs are these values instead of its own; weights refer into the original file. */
export function tapModel(original: OnnxModel, flat: FlatModel, values: readonly string[]): TappedModel {
  const dtypes = inferDTypes(flat)
  const outputs = new Map(values.map((value) => [value, chooseCarrier(value, dtypes.get(value))]))
  const casts = [...outputs].flatMap(([value, carrier]) => castOut(value, carrier))
  const names = Array.from(outputs.values(), ({ name }) => name)
  return { bytes: withOutputs(original, flat, names, casts), outputs }
}

/** A copy of a flat model that gives only the shapes of these values, each as `<value>#shape`. */
export function shapeModel(original: OnnxModel, flat: FlatModel, values: readonly string[]): Uint8Array {
  const nodes = values.map((value) =>
    create(NodeProtoSchema, { opType: 'Shape', input: [value], output: [shapeName(value)] }),
  )
  // onnxruntime begins with the last node: so each shape is taken, and its value given up, as soon as it is there.
  return withOutputs(original, flat, values.map(shapeName), nodes.reverse())
}

export function shapeName(value: string): string {
  return `${value}#shape`
}

function withOutputs(
  original: OnnxModel,
  flat: FlatModel,
  names: readonly string[],
  nodes: readonly NodeProto[],
): Uint8Array {
  const declared = new Map(flat.graph.output.map((output) => [output.name, output]))
  const graph = {
    ...flat.graph,
    node: [...flat.graph.node, ...nodes],
    output: names.map((name) => declared.get(name) ?? create(ValueInfoProtoSchema, { name })),
    initializer: referWeights(flat.graph.initializer, original),
  }
  return writeModel({ ...flat.proto, graph })
}

/** Dtypes of inner values, as far as known without running the model. */
export function inferDTypes({ proto }: FlatModel): Map<string, DType> {
  const dtypes = new Map<string, DType>()
  for (const { node, outputs } of typedNodes(proto)) {
    node.output.forEach((name, i) => {
      const dtype = outputs[i]
      if (dtype) dtypes.set(name, dtype)
    })
  }
  return dtypes
}
