import type { AttributeProto, FunctionProto, GraphProto, NodeProto, TensorProto } from '../generated/onnx-ml_pb.ts'
import { KEEPS_SHAPE, type NodeUse } from './input-roles.ts'

type Sizes = readonly (number | null)[]

/** A graph, sub-graph or function body, with the users of each name and the facts about it. */
export interface GraphScope {
  readonly consumers: ReadonlyMap<string, readonly { readonly node: NodeProto; readonly position: number }[]>
  readonly bodies: readonly GraphScope[]
  /** The node whose sub-graph this is. */
  readonly owner: { readonly scope: GraphScope; readonly node: NodeProto } | null
  readonly inputs: readonly string[]
  readonly outputs: readonly string[]
  /** Names that are redefined here. */
  readonly owns: ReadonlySet<string>
  readonly constants: ReadonlyMap<string, TensorProto>
  readonly declared: ReadonlyMap<string, Sizes>
  /** Value → the graph input it equals, with unchanged shape. */
  readonly aliases: ReadonlyMap<string, string>
}

export function scopeOfGraph(graph: GraphProto, owner: GraphScope['owner'] = null): GraphScope {
  const declared = [...graph.input, ...graph.valueInfo, ...graph.output].flatMap(({ name, type }) => {
    const shape = type?.value.case === 'tensorType' ? type.value.value.shape : undefined
    return shape ? [[name, shape.dim.map(readSize)] as const] : []
  })
  const inputs = graph.input.map(({ name }) => name)
  const outputs = graph.output.map(({ name }) => name)
  const constants = graph.initializer.map((tensor) => [tensor.name, tensor] as const)
  return buildScope(graph.node, { owner, inputs, outputs, declared, constants })
}

export function scopeOfFunction({ node, input, output }: FunctionProto): GraphScope {
  return buildScope(node, { owner: null, inputs: input, outputs: output, declared: [], constants: [] })
}

/** A declared size; null if it is symbolic, absent or negative (which some exporters write for "any"). */
export function readSize({ value }: { value: { case?: string | undefined; value?: unknown } }): number | null {
  return value.case === 'dimValue' && typeof value.value === 'bigint' && value.value >= 0n ? Number(value.value) : null
}

/** What is known around one node. */
export function viewNode(scope: GraphScope, node: NodeProto): NodeUse {
  const at = (position: number) => node.input[position] ?? ''
  return {
    node,
    shapeOf: (position) => lookUp(scope, (one) => shapeIn(one, at(position))),
    constantShape: (position) =>
      lookUp(scope, (one) => one.constants.get(at(position)) ?? null)?.dims.map(Number) ?? null,
    scalarOf: (position) => scalarOf(lookUp(scope, (one) => one.constants.get(at(position)) ?? null)),
    inputAt: (position) => lookUp(scope, (one) => one.aliases.get(at(position)) ?? null),
    attribute: (name, fallback) => Number(node.attribute.find((one) => one.name === name)?.i ?? fallback),
  }
}

interface Parts {
  readonly owner: GraphScope['owner']
  readonly inputs: readonly string[]
  readonly outputs: readonly string[]
  readonly declared: readonly (readonly [string, Sizes])[]
  readonly constants: readonly (readonly [string, TensorProto])[]
}

function buildScope(nodes: readonly NodeProto[], { owner, inputs, outputs, declared, constants }: Parts): GraphScope {
  const bodies: GraphScope[] = []
  const scope: GraphScope = {
    owner,
    inputs,
    outputs,
    bodies,
    consumers: consumersIn(nodes),
    owns: new Set([...inputs, ...constants.map(([name]) => name), ...nodes.flatMap(({ output }) => output)]),
    constants: new Map([...constants, ...nodes.flatMap(constantOf)]),
    declared: new Map(declared),
    aliases: aliasesIn(nodes, owner ? [] : inputs),
  }
  for (const node of nodes) {
    for (const graph of graphsIn(node.attribute)) bodies.push(scopeOfGraph(graph, { scope, node }))
  }
  return scope
}

function consumersIn(nodes: readonly NodeProto[]): GraphScope['consumers'] {
  const consumers = new Map<string, { node: NodeProto; position: number }[]>()
  for (const node of nodes) {
    node.input.forEach((name, position) => {
      if (name === '') return
      const sites = consumers.get(name)
      if (sites) sites.push({ node, position })
      else consumers.set(name, [{ node, position }])
    })
  }
  return consumers
}

function aliasesIn(nodes: readonly NodeProto[], inputs: readonly string[]): Map<string, string> {
  const aliases = new Map(inputs.map((name) => [name, name]))
  for (const { opType, input, output } of nodes) {
    const source = aliases.get(input[0] ?? '')
    if (source !== undefined && output[0] && KEEPS_SHAPE.has(opType)) aliases.set(output[0], source)
  }
  return aliases
}

function graphsIn(attributes: readonly AttributeProto[]): GraphProto[] {
  return attributes.flatMap(({ g, graphs }) => (g ? [g, ...graphs] : graphs))
}

function constantOf(node: NodeProto): (readonly [string, TensorProto])[] {
  const tensor = node.opType === 'Constant' ? node.attribute.find(({ name }) => name === 'value')?.t : undefined
  return tensor && node.output[0] ? [[node.output[0], tensor]] : []
}

function lookUp<T>(scope: GraphScope, find: (scope: GraphScope) => T | null): T | null {
  for (let one: GraphScope | undefined = scope; one; one = one.owner?.scope) {
    const found = find(one)
    if (found !== null) return found
  }
  return null
}

function shapeIn(scope: GraphScope, name: string): Sizes | null {
  const constant = scope.constants.get(name)
  return constant ? constant.dims.map(Number) : (scope.declared.get(name) ?? null)
}

/** The value of a one-element constant; shifts and depths are always int64, int32 or float32. */
function scalarOf(tensor: TensorProto | null): number | null {
  if (!tensor || tensor.dims.some((dim) => dim !== 1n)) return null
  const raw = tensor.rawData
  const view = new DataView(raw.buffer, raw.byteOffset, raw.byteLength)
  if (tensor.dataType === 7) return raw.length === 8 ? Number(view.getBigInt64(0, true)) : onlyOf(tensor.int64Data)
  if (tensor.dataType === 6) return raw.length === 4 ? view.getInt32(0, true) : onlyOf(tensor.int32Data)
  if (tensor.dataType === 1) return raw.length === 4 ? view.getFloat32(0, true) : onlyOf(tensor.floatData)
  return null
}

function onlyOf(values: readonly (number | bigint)[]): number | null {
  return values.length === 1 ? Number(values[0]) : null
}
