import { clone, create } from '@bufbuild/protobuf'
import type { TensorSpec } from '../../domain/tensor.ts'
import type { FlatModel } from '../flatten.ts'
import { type NodeProto, NodeProtoSchema } from '../generated/onnx-ml_pb.ts'
import { type OnnxModel, writeModel } from '../model.ts'
import { valueInfo } from '../value-info.ts'
import { referWeights } from './refer-weights.ts'

/** The inputs that move a value: `to` is added to it and `from` subtracted. */
interface MovedBy {
  readonly to: string
  readonly from: string
}

export interface MovedModel {
  readonly bytes: Uint8Array
  readonly inputs: ReadonlyMap<string, MovedBy>
}

/** A copy of a flat model with two more inputs for each of these values of its nodes, which move it. */
export function moveValues(original: OnnxModel, flat: FlatModel, values: readonly TensorSpec[]): MovedModel {
  const inputs = new Map(values.map(({ name }) => [name, { to: `${name}#to`, from: `${name}#from` }]))
  const { graph } = flat
  const added = values.flatMap((spec) => {
    const { to, from } = inputs.get(spec.name)!
    return [valueInfo(to, spec), valueInfo(from, spec)]
  })
  const moved = {
    ...graph,
    node: graph.node.flatMap((node) => withMoves(node, inputs)),
    input: [...graph.input, ...added],
    initializer: referWeights(graph.initializer, original),
  }
  return { bytes: writeModel({ ...flat.proto, graph: moved }), inputs }
}

function withMoves(node: NodeProto, inputs: MovedModel['inputs']): NodeProto[] {
  const moved = node.output.filter((name) => inputs.has(name))
  if (moved.length === 0) return [node]
  const copy = clone(NodeProtoSchema, node)
  copy.output = copy.output.map((name) => (inputs.has(name) ? `${name}#own` : name))
  const moves = moved.flatMap((name) => {
    const { to, from } = inputs.get(name)!
    return [
      create(NodeProtoSchema, { opType: 'Sub', input: [to, from], output: [`${name}#by`] }),
      create(NodeProtoSchema, { opType: 'Add', input: [`${name}#own`, `${name}#by`], output: [name] }),
    ]
  })
  return [copy, ...moves]
}
