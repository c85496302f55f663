import { equals } from '@bufbuild/protobuf'
import { AttributeProtoSchema, type GraphProto, type ModelProto, type NodeProto } from '../generated/onnx-ml_pb.ts'
import { listGraphs, type NodeList, walkScopes } from '../walk.ts'
import { equalNodes } from './equal-nodes.ts'

/** What replaced some nodes: other nodes that compute the same values, or a constant. */
export interface Replacement {
  readonly from: readonly NodeProto[]
  readonly to: readonly NodeProto[]
  /** The value that is a constant now; null where nodes still make it. */
  readonly constant: string | null
}

/** The difference between two forms of a model. Constant nodes do not count: some forms have initializers instead. */
export interface GraphChanges {
  readonly before: IrFacts
  readonly after: IrFacts
  readonly replaced: readonly Replacement[]
  /** The same op that makes the same values, with other inputs or attributes. */
  readonly adjusted: readonly { readonly before: NodeProto; readonly after: NodeProto }[]
  /** Nodes merged into an identical one that still exists. */
  readonly merged: readonly { readonly node: NodeProto; readonly into: NodeProto }[]
  readonly gone: readonly NodeProto[]
  readonly added: readonly NodeProto[]
}

/** The counts for one form. */
export interface IrFacts {
  /** Of the graph and its sub-graphs, without Constant. */
  readonly nodes: number
  readonly constants: ReadonlySet<string>
  readonly nodesByOp: ReadonlyMap<string, number>
  readonly functions: number
}

export function countNodes(proto: ModelProto): IrFacts {
  const scopes = graphScopes(proto)
  const nodes = [...scopes.values()].flatMap(({ nodes }) => nodes)
  const nodesByOp = new Map<string, number>()
  for (const node of nodes) nodesByOp.set(nameOp(node), (nodesByOp.get(nameOp(node)) ?? 0) + 1)
  const constants = new Set([...scopes.values()].flatMap((side) => [...side.constants]))
  return { nodes: nodes.length, constants, nodesByOp, functions: proto.functions.length }
}

/** Nodes are matched by the values they make, and where those have new names, by the node's own name. */
export function graphChanges(before: ModelProto, after: ModelProto): GraphChanges {
  const [old, now] = [graphScopes(before), graphScopes(after)]
  const replaced: Replacement[] = []
  const adjusted: GraphChanges['adjusted'][number][] = []
  const merged: GraphChanges['merged'][number][] = []
  const gone: NodeProto[] = []
  const added: NodeProto[] = []
  for (const where of new Set([...old.keys(), ...now.keys()])) {
    const changes = new ScopeChanges(old.get(where) ?? NOTHING, now.get(where) ?? NOTHING)
    for (const replacement of changes.replacements()) {
      const { from, to, constant } = replacement
      const [one, other] = [from[0], to[0]]
      const isSame = constant === null && from.length === 1 && to.length === 1 && nameOp(one!) === nameOp(other!)
      if (!isSame) replaced.push(replacement)
      else if (!isEqual(one!, other!)) adjusted.push({ before: one!, after: other! })
    }
    merged.push(...changes.merged())
    gone.push(...changes.gone())
    added.push(...changes.added())
  }
  return { before: countNodes(before), after: countNodes(after), replaced, adjusted, merged, gone, added }
}

export function nameOp({ domain, opType }: NodeProto): string {
  return domain && domain !== 'ai.onnx' ? `${domain}.${opType}` : opType
}

/** One graph or sub-graph of a form. */
interface Side {
  readonly nodes: readonly NodeProto[]
  readonly places: ReadonlyMap<NodeProto, number>
  readonly makers: ReadonlyMap<string, NodeProto>
  readonly named: ReadonlyMap<string, NodeProto>
  readonly constants: ReadonlySet<string>
}

const NOTHING: Side = { nodes: [], places: new Map(), makers: new Map(), named: new Map(), constants: new Set() }

/** Graphs by position; function bodies are left out, since a form may have inlined them. */
function graphScopes(proto: ModelProto): Map<string, Side> {
  const sides = new Map<string, Side>()
  const paths = new Map<NodeList, string>()
  for (const scope of walkScopes(proto)) {
    const { parent, graph, where } = scope
    const outer = parent ? paths.get(parent) : graph === proto.graph ? '' : undefined
    if (!graph || outer === undefined) continue
    let path = `${outer}/${where}`
    while (sides.has(path)) path += "'"
    paths.set(scope, path)
    sides.set(path, sideOf(graph))
  }
  return sides
}

function sideOf(graph: GraphProto): Side {
  const nodes = graph.node.filter((node) => nameOp(node) !== 'Constant')
  const makers = new Map(nodes.flatMap((node) => node.output.filter(Boolean).map((name) => [name, node] as const)))
  const constants = new Set(graph.initializer.map(({ name }) => name))
  for (const { values } of graph.sparseInitializer) if (values) constants.add(values.name)
  for (const node of graph.node) if (nameOp(node) === 'Constant') for (const name of node.output) constants.add(name)
  const places = new Map(nodes.map((node, i) => [node, i]))
  const named = new Map(nodes.filter(({ name }) => name).map((node) => [node.name, node]))
  return { nodes, places, makers, named, constants }
}

/** Walks back, on both sides, from every value that both forms compute to the next such values. */
class ScopeChanges {
  readonly #before: Side
  readonly #after: Side
  /** Value of the new form → the old name of what it stands for. */
  readonly #aliases = new Map<string, string>()
  readonly #shared: ReadonlySet<string>
  readonly #claimed = new Set<NodeProto>()
  readonly #merged: ReadonlyMap<NodeProto, NodeProto>

  constructor(before: Side, after: Side) {
    this.#before = before
    this.#after = after
    for (const node of after.nodes) this.#findAlias(node)
    const aliased = new Set(this.#aliases.values())
    const stays = (name: string) => after.makers.has(name) || after.constants.has(name) || aliased.has(name)
    this.#merged = new Map(equalNodes(before.nodes).flatMap((group) => mergedIn(group, stays)))
    for (const node of this.#merged.keys()) this.#claimed.add(node)
    this.#shared = new Set([...before.makers.keys()].filter(stays))
  }

  merged(): GraphChanges['merged'] {
    return Array.from(this.#merged, ([node, into]) => ({ node, into }))
  }

  replacements(): Replacement[] {
    const nodes = this.#after.nodes.map((node) => this.#replacementBy(node))
    const folded = [...this.#before.makers.keys()].filter((name) => this.#after.constants.has(name))
    const constants = folded.map((name) => ({ from: this.#oldNodesOf([name]), to: [], constant: name }))
    return [...nodes, ...constants].filter((found) => found !== null).filter(({ from }) => from.length > 0)
  }

  gone(): NodeProto[] {
    return this.#before.nodes.filter((node) => !this.#claimed.has(node))
  }

  added(): NodeProto[] {
    return this.#after.nodes.filter((node) => !this.#claimed.has(node))
  }

  /** onnxruntime names a node whose values it renames after the value that it stands for, as in relu_nchwc. */
  #findAlias(node: NodeProto): void {
    const { makers } = this.#before
    const [output] = node.output
    if (output === undefined || node.output.some((name) => makers.has(name))) return
    const stem = node.name.replace(/_[a-z0-9]+$/, '')
    const names = [this.#before.named.get(node.name)?.output[0] ?? '', node.name, stem]
    const old = names.find((name) => this.#isGone(name))
    if (old !== undefined) this.#aliases.set(output, old)
  }

  #isGone(name: string): boolean {
    return this.#before.makers.has(name) && !this.#after.makers.has(name) && !this.#after.constants.has(name)
  }

  #replacementBy(node: NodeProto): Replacement | null {
    const made = node.output.map((name) => this.#aliases.get(name) ?? name).filter((name) => this.#shared.has(name))
    if (made.length === 0 || this.#claimed.has(node)) return null
    const to = this.#newNodesOf(node)
    return { from: this.#oldNodesOf(made), to, constant: null }
  }

  /** The nodes that computed these values, and all earlier ones whose values are gone. */
  #oldNodesOf(values: readonly string[]): NodeProto[] {
    const starts = values.flatMap((value) => this.#before.makers.get(value) ?? [])
    const isOwn = (value: string) => !this.#shared.has(value)
    return this.#claimBack(starts, this.#before, isOwn)
  }

  /** The node, and all earlier ones whose values are new. */
  #newNodesOf(node: NodeProto): NodeProto[] {
    const isOwn = (value: string) => !this.#before.makers.has(value) && !this.#aliases.has(value)
    return this.#claimBack([node], this.#after, isOwn)
  }

  /** In the order of the graph. */
  #claimBack(starts: readonly NodeProto[], side: Side, isOwn: (value: string) => boolean): NodeProto[] {
    const found = new Set<NodeProto>()
    const open = [...starts]
    for (let node = open.pop(); node; node = open.pop()) {
      if (this.#claimed.has(node)) continue
      this.#claimed.add(node)
      found.add(node)
      for (const name of node.input) {
        const maker = isOwn(name) ? side.makers.get(name) : undefined
        if (maker?.output.every(isOwn)) open.push(maker)
      }
    }
    return [...found].sort((a, b) => side.places.get(a)! - side.places.get(b)!)
  }
}

function mergedIn(group: readonly NodeProto[], stays: (value: string) => boolean): [NodeProto, NodeProto][] {
  const survivor = group.find(({ output }) => output.some(stays))
  return survivor ? group.filter(({ output }) => !output.some(stays)).map((node) => [node, survivor]) : []
}

function isEqual(a: NodeProto, b: NodeProto): boolean {
  const names = (node: NodeProto) => JSON.stringify(node.input)
  return names(a) === names(b) && changedAttributes(a, b).length === 0
}

/** Names of attributes that differ; what is in sub-graphs is compared as graphs of their own. */
export function changedAttributes(a: NodeProto, b: NodeProto): string[] {
  const [old, now] = [a, b].map(({ attribute }) => new Map(attribute.map((each) => [each.name, each])))
  return [...new Set([...old!.keys(), ...now!.keys()])].filter((name) => {
    const [one, other] = [old!.get(name), now!.get(name)]
    if (!one || !other) return true
    return (
      listGraphs(one).length === 0 &&
      !equals(AttributeProtoSchema, { ...one, docString: '' }, { ...other, docString: '' })
    )
  })
}
