import type { Branch, NodeKey } from '../flatten.ts'
import type { GraphProto, NodeProto } from '../generated/onnx-ml_pb.ts'
import { listGraphs, normaliseDomain } from '../walk.ts'
import { type GroupPattern, groupsIn } from './layer-groups.ts'

/** A node that is judged on its own, or a group of them. */
export interface LayerSite {
  /** `layer_<Op>_<name>`, stable when other nodes come and go. */
  readonly scope: string
  /** `Conv`, or `Conv+Clip` for a group. */
  readonly op: string
  readonly keys: readonly NodeKey[]
  /** The first of its nodes. */
  readonly node: NodeProto
  /** The branches of Ifs that lead to it, outermost first. */
  readonly branches: readonly { readonly key: NodeKey; readonly branch: Branch }[]
  /** The Loop or Scan whose body it is in: it runs any number of times. */
  readonly loop: string | null
}

interface Place {
  readonly patterns: readonly GroupPattern[]
  readonly path: string
  readonly branches: LayerSite['branches']
  readonly loop: string | null
}

/** Every node of a model that computes something, in graph order; constants are weights of their users. */
export function layerSites(graph: GraphProto, patterns: readonly GroupPattern[] = []): LayerSite[] {
  const found = [...sitesIn(graph, { patterns, path: '', branches: [], loop: null })]
  const names = uniqueNames(found)
  return found.map((site, i) => ({ ...site, scope: `layer_${site.op}_${names[i]}` }))
}

type Unnamed = Omit<LayerSite, 'scope'>

function* sitesIn(graph: GraphProto, place: Place): Generator<Unnamed> {
  const groups = place.loop === null ? groupsIn(graph, place.patterns) : []
  const keyOf = new Map(graph.node.map((node, position) => [node, `${place.path}${position}`]))
  for (const [node, key] of keyOf) {
    const group = groups.find((members) => members.includes(node)) ?? [node]
    if (node.opType === 'Constant' || group[0] !== node) continue
    if (isOnnx(node, 'If')) yield* branchesOf(node, key, place)
    else {
      const op = group.map(({ opType }) => opType).join('+')
      const keys = group.map((member) => keyOf.get(member)!)
      yield { op, keys, node, branches: place.branches, loop: place.loop }
    }
    if (!isOnnx(node, 'Loop') && !isOnnx(node, 'Scan')) continue
    const loop = place.loop ?? `${node.opType} "${node.name || node.output[0]}"`
    for (const body of node.attribute.flatMap(listGraphs))
      yield* sitesIn(body, { ...place, path: `${key}/body/`, loop })
  }
}

function* branchesOf(node: NodeProto, key: NodeKey, place: Place): Generator<Unnamed> {
  for (const { name, g } of node.attribute) {
    if (!g || (name !== 'then_branch' && name !== 'else_branch')) continue
    const branches = [...place.branches, { key, branch: name } as const]
    yield* sitesIn(g, { ...place, path: `${key}/${name}/`, branches })
  }
}

function isOnnx(node: NodeProto, op: string): boolean {
  return node.opType === op && normaliseDomain(node) === ''
}

/**
 * The node's own name, or its first output's where names repeat or are missing; the same with the branches before it where
 * both branches of an If call their nodes alike.
 */
function uniqueNames(sites: readonly Unnamed[]): string[] {
  const own = sites.map(({ node }) => node.name)
  const made = sites.map(({ node }) => node.output.find(Boolean) ?? '')
  const within = (names: readonly string[]) => names.map((name, i) => name && `${branchPath(sites[i]!)}.${name}`)
  const wishes = [own, made, within(own), within(made)].map((names) => ({ names, isUnique: uniqueAmong(names) }))
  const used = new Set<string>()
  return sites.map(({ keys }, i) => {
    const wish = wishes.find(({ names, isUnique }) => isUnique(names[i]!) && !used.has(names[i]!))
    // Names that even a branch repeats are against the rules; such a model has no better name for its nodes.
    const name = wish ? wish.names[i]! : keys[0]!
    used.add(name)
    return name
  })
}

function branchPath({ branches }: Unnamed): string {
  return branches.map(({ branch }) => branch).join('.')
}

function uniqueAmong(names: readonly string[]): (name: string) => boolean {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return (name) => name !== '' && counts.get(name) === 1
}
