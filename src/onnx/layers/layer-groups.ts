import type { GraphProto, NodeProto } from '../generated/onnx-ml_pb.ts'
import { namesNeededBy } from '../names.ts'

/** Ops judged together if each feeds only the next, such as Conv and Clip. */
export type GroupPattern = readonly string[]

/** Nodes of a graph that belong together, first ones with all of theirs; longer patterns win. */
export function groupsIn(graph: GraphProto, patterns: readonly GroupPattern[]): NodeProto[][] {
  if (patterns.length === 0) return []
  const onlyUserOf = onlyUsersIn(graph)
  const longestFirst = [...patterns].sort((a, b) => b.length - a.length)
  const taken = new Set<NodeProto>()
  const groups: NodeProto[][] = []
  for (const node of graph.node) {
    const found = longestFirst.map((pattern) => chainFrom(node, pattern, onlyUserOf)).find((chain) => chain !== null)
    if (!found || found.some((member) => taken.has(member))) continue
    for (const member of found) taken.add(member)
    groups.push(found)
  }
  return groups
}

type OnlyUserOf = (node: NodeProto) => NodeProto | undefined

function chainFrom(first: NodeProto, pattern: GroupPattern, onlyUserOf: OnlyUserOf): NodeProto[] | null {
  const chain: NodeProto[] = []
  let node: NodeProto | undefined = first
  for (const op of pattern) {
    if (node?.opType !== op) return null
    chain.push(node)
    node = onlyUserOf(node)
  }
  return chain
}

/** The only node that uses a node's output, if there is exactly one. */
function onlyUsersIn(graph: GraphProto): OnlyUserOf {
  const users = new Map<string, Set<NodeProto>>()
  for (const node of graph.node) {
    for (const name of namesNeededBy(node)) users.set(name, (users.get(name) ?? new Set()).add(node))
  }
  const given = new Set(graph.output.map(({ name }) => name))
  return ({ output }) => {
    const made = output.filter(Boolean)
    if (made.length !== 1 || given.has(made[0]!)) return undefined
    const [user, ...others] = users.get(made[0]!) ?? []
    return others.length === 0 ? user : undefined
  }
}
