import type { FlatModel } from '../flatten.ts'
import type { NodeProto, TensorProto } from '../generated/onnx-ml_pb.ts'
import { namesNeededBy } from '../names.ts'

/** The maker and the users of each value of a flat graph. */
export interface FlatIndex {
  readonly weights: ReadonlyMap<string, TensorProto>
  readonly constants: ReadonlyMap<string, NodeProto>
  /** Values that something other than their own maker needs: nodes, or the model's outputs. */
  readonly users: ReadonlyMap<string, ReadonlySet<NodeProto>>
  readonly outputs: ReadonlySet<string>
}

export function indexFlat({ graph, nodes }: FlatModel): FlatIndex {
  const users = new Map<string, Set<NodeProto>>()
  const constants = new Map<string, NodeProto>()
  for (const node of nodes.values()) {
    if (node.opType === 'Constant') constants.set(node.output[0]!, node)
    for (const name of namesNeededBy(node)) users.set(name, (users.get(name) ?? new Set()).add(node))
  }
  return {
    weights: new Map(graph.initializer.map((tensor) => [tensor.name, tensor])),
    constants,
    users,
    outputs: new Set(graph.output.map(({ name }) => name)),
  }
}

/** One or several nodes, with their inputs and outputs. */
export interface Layer {
  readonly nodes: readonly NodeProto[]
  /** Values that come from other nodes or the user. */
  readonly inputs: readonly string[]
  readonly weights: readonly TensorProto[]
  readonly constants: readonly NodeProto[]
  readonly outputs: readonly string[]
}

export function findLayer(nodes: readonly NodeProto[], index: FlatIndex): Layer {
  const made = new Set(nodes.flatMap(({ output }) => output.filter(Boolean)))
  const needed = [...new Set(nodes.flatMap((node) => [...namesNeededBy(node)]))].filter((name) => !made.has(name))
  const isUsedOutside = (name: string) =>
    index.outputs.has(name) || [...(index.users.get(name) ?? [])].some((user) => !nodes.includes(user))
  const used = [...made].filter(isUsedOutside)
  return {
    nodes,
    inputs: needed.filter((name) => !index.weights.has(name) && !index.constants.has(name)),
    weights: needed.flatMap((name) => index.weights.get(name) ?? []),
    constants: needed.flatMap((name) => index.constants.get(name) ?? []),
    outputs: used.length > 0 ? used : [...made],
  }
}
