import { create, fromBinary } from '@bufbuild/protobuf'
import {
  type GraphProto,
  type ModelProto,
  ModelProtoSchema,
  type NodeProto,
  NodeProtoSchema,
} from './generated/onnx-ml_pb.ts'
import type { OnnxModel } from './model.ts'
import { namesDefinedIn, namesNeededBy, renameIn } from './names.ts'
import { findAttribute, normaliseDomain } from './walk.ts'

export type Branch = 'then_branch' | 'else_branch'

/** Position of a node in a model's nested graphs, such as `4/else_branch/17`. */
export type NodeKey = string

/** A model whose Ifs are replaced by the branches taken; its results are the same. */
export interface FlatModel {
  readonly proto: ModelProto
  readonly graph: GraphProto
  /** Every node of the flat graph, in order, by its position in the original. */
  readonly nodes: ReadonlyMap<NodeKey, NodeProto>
  /** Ifs whose taken branch is not known yet, with the name of their condition. */
  readonly undecided: ReadonlyMap<NodeKey, string>
}

/** Replaces Ifs by the branches taken; inner Ifs appear once outer ones are decided. */
export function flatten(model: OnnxModel, taken: ReadonlyMap<NodeKey, Branch>): FlatModel {
  // Parsing again costs a millisecond and leaves the original alone; weights are views into the same bytes.
  const proto = fromBinary(ModelProtoSchema, model.bytes)
  const graph = proto.graph!
  const flattening = new Flattening(graph, taken)
  flattening.run()
  return { proto, graph, nodes: flattening.nodes, undecided: flattening.undecided }
}

class Flattening {
  readonly nodes = new Map<NodeKey, NodeProto>()
  readonly undecided = new Map<NodeKey, string>()
  readonly #graph: GraphProto
  readonly #taken: ReadonlyMap<NodeKey, Branch>
  readonly #used: Set<string>
  readonly #nodeNames = new Set<string>()

  constructor(graph: GraphProto, taken: ReadonlyMap<NodeKey, Branch>) {
    this.#graph = graph
    this.#taken = taken
    this.#used = new Set([...namesDefinedIn(graph), ...graph.node.flatMap((node) => [...namesNeededBy(node)])])
  }

  run(): void {
    this.#place(this.#graph.node, '')
    this.#graph.node = [...this.nodes.values()]
  }

  #place(nodes: readonly NodeProto[], path: string): void {
    nodes.forEach((node, position) => {
      const key = `${path}${position}`
      const branch = isIf(node) ? this.#taken.get(key) : undefined
      if (branch) this.#inline(node, branch, key)
      else {
        this.#add(key, node)
        if (isIf(node)) this.undecided.set(key, node.input[0]!)
      }
    })
  }

  /** Branches may share node names, but runtimes refuse a graph with a name twice. */
  #add(key: NodeKey, node: NodeProto): void {
    if (this.#nodeNames.has(node.name)) node.name = ''
    else if (node.name) this.#nodeNames.add(node.name)
    this.nodes.set(key, node)
  }

  #inline(node: NodeProto, branch: Branch, key: NodeKey): void {
    const body = findAttribute(node, branch)?.g
    if (!body) {
      this.#add(key, node)
      return
    }
    const { renaming, copies } = this.#meanings(node, body)
    for (const inner of body.node) renameIn(inner, renaming)
    const sparse = body.sparseInitializer.flatMap(({ values }) => values ?? [])
    for (const named of [...body.initializer, ...sparse, ...body.valueInfo]) {
      named.name = renaming.get(named.name) ?? named.name
    }
    this.#graph.initializer.push(...body.initializer)
    this.#graph.sparseInitializer.push(...body.sparseInitializer)
    this.#graph.valueInfo.push(...body.valueInfo)
    this.#place(body.node, `${key}/${branch}/`)
    for (const [i, copy] of copies.entries()) this.nodes.set(`${key}/${branch}/output${i}`, copy)
  }

  /** Maps the branch's names to outer ones; its outputs get the names of the If's outputs, or are copied to them. */
  #meanings(node: NodeProto, body: GraphProto): { renaming: Map<string, string>; copies: NodeProto[] } {
    const made = new Set(body.node.flatMap(({ output }) => output))
    const renaming = new Map<string, string>()
    const copies: [from: string, to: string][] = []
    body.output.forEach(({ name }, i) => {
      const to = node.output[i]
      if (!to) return
      if (made.has(name) && !renaming.has(name)) renaming.set(name, to)
      else copies.push([name, to])
    })
    for (const name of namesDefinedIn(body)) if (!renaming.has(name)) renaming.set(name, this.#freshName(name))
    return {
      renaming,
      copies: copies.map(([from, to]) =>
        create(NodeProtoSchema, { opType: 'Identity', input: [renaming.get(from) ?? from], output: [to] }),
      ),
    }
  }

  #freshName(wished: string): string {
    let name = wished
    for (let i = 2; this.#used.has(name); i++) name = `${wished}_${i}`
    this.#used.add(name)
    return name
  }
}

function isIf(node: NodeProto): boolean {
  return node.opType === 'If' && normaliseDomain(node) === ''
}
