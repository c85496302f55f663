import type { GraphProto, NodeProto } from './generated/onnx-ml_pb.ts'
import { listGraphs } from './walk.ts'

export type Renaming = ReadonlyMap<string, string>

/** Names that a graph defines, which hide outer ones. */
export function namesDefinedIn(graph: GraphProto): Set<string> {
  const names = new Set<string>()
  for (const { name } of [...graph.input, ...graph.initializer]) names.add(name)
  for (const { values } of graph.sparseInitializer) if (values) names.add(values.name)
  for (const { output } of graph.node) for (const name of output) if (name) names.add(name)
  return names
}

/** Names that a node needs from its scope: its inputs, and names captured by its sub-graphs. */
export function namesNeededBy(node: NodeProto): Set<string> {
  const needed = new Set(node.input.filter(Boolean))
  for (const graph of node.attribute.flatMap(listGraphs)) for (const name of namesTakenBy(graph)) needed.add(name)
  return needed
}

function namesTakenBy(graph: GraphProto): Set<string> {
  const taken = new Set<string>()
  for (const node of graph.node) for (const name of namesNeededBy(node)) taken.add(name)
  for (const { name } of graph.output) taken.add(name)
  for (const name of namesDefinedIn(graph)) taken.delete(name)
  return taken
}

/** Renames a node's inputs and outputs, also in its sub-graphs unless they redefine the name. */
export function renameIn(node: NodeProto, renaming: Renaming): void {
  node.input = node.input.map((name) => renaming.get(name) ?? name)
  node.output = node.output.map((name) => renaming.get(name) ?? name)
  for (const graph of node.attribute.flatMap(listGraphs)) renameTaken(graph, renaming)
}

function renameTaken(graph: GraphProto, renaming: Renaming): void {
  const own = namesDefinedIn(graph)
  const outer = new Map([...renaming].filter(([name]) => !own.has(name)))
  if (outer.size === 0) return
  for (const node of graph.node) renameIn(node, outer)
  for (const output of graph.output) output.name = outer.get(output.name) ?? output.name
}
