import type { IndexSelection } from '../compare/contract.ts'
import { dtypeFromOnnx, dtypeKind } from '../domain/dtype.ts'
import type { GraphProto, NodeProto } from './generated/onnx-ml_pb.ts'
import type { ModelFacts } from './model.ts'
import { findAttribute, intAttribute, normaliseDomain } from './walk.ts'

/** The origin of an output's integers, which decides how they are compared. */
export type OutputOrigin =
  | { readonly kind: 'quantised' }
  | ({ readonly kind: 'index'; readonly largest?: boolean } & IndexSelection)
  | { readonly kind: 'plain' }

const PLAIN: OutputOrigin = { kind: 'plain' }
/** The same elements in the same row-major order. */
const SAME_ORDER = new Set(['Identity', 'Reshape', 'Squeeze', 'Unsqueeze', 'Flatten'])
/** The same elements, or some of them, in another order: still quantised, but no longer indices in their places. */
const REORDERING = new Set(
  'Transpose Slice Gather GatherElements GatherND Expand Tile Split DepthToSpace SpaceToDepth ReverseSequence'.split(
    ' ',
  ),
)

export function outputOrigin(model: ModelFacts, outputName: string): OutputOrigin {
  const origin = originIn(model.graph, outputName)
  if (origin.kind !== 'index') return origin
  return { ...origin, tensor: visibleName(model.graph, origin.tensor) }
}

const MAX_STEPS = 1000

/** Anything not understood, including cycles, is plain and compared exactly. */
function originIn(graph: GraphProto, name: string): OutputOrigin {
  const producers = producersOf(graph)
  const known = new Map<string, OutputOrigin>()
  const follow = (value: string): OutputOrigin => {
    const node = producers.get(value)
    if (!node || known.has(value) || known.size > MAX_STEPS) return known.get(value) ?? PLAIN
    known.set(value, PLAIN)
    const origin = originOfNode(node, node.output.indexOf(value), follow)
    known.set(value, origin)
    return origin
  }
  return follow(name)
}

type Follow = (value: string) => OutputOrigin

function originOfNode(node: NodeProto, output: number, follow: Follow): OutputOrigin {
  const { opType, input } = node
  const domain = normaliseDomain(node)
  if (domain === 'com.microsoft') return /^QLinear/.test(opType) ? { kind: 'quantised' } : PLAIN
  if (domain !== '') return PLAIN
  if (SAME_ORDER.has(opType) || isIntegerCast(node)) return follow(input[0] ?? '')
  if (REORDERING.has(opType)) return onlyQuantised([follow(input[0] ?? '')])
  if (opType === 'Concat') return onlyQuantised(input.map(follow))
  if (opType === 'If') return branchOrigin(node, output)
  if (isQuantising(opType, output)) return { kind: 'quantised' }
  return indexOrigin(node, output)
}

/** Of indices and quantised values, which are integers before the cast. */
function isIntegerCast(node: NodeProto): boolean {
  const dtype = node.opType === 'Cast' ? dtypeFromOnnx(intAttribute(node, 'to') ?? 0) : undefined
  return dtype !== undefined && (dtypeKind(dtype) === 'int' || dtypeKind(dtype) === 'uint')
}

function isQuantising(opType: string, output: number): boolean {
  if (opType === 'DynamicQuantizeLinear') return output !== 1
  return opType === 'QuantizeLinear' || opType === 'QLinearConv' || opType === 'QLinearMatMul'
}

function onlyQuantised(origins: readonly OutputOrigin[]): OutputOrigin {
  return origins.length > 0 && origins.every(({ kind }) => kind === 'quantised') ? { kind: 'quantised' } : PLAIN
}

function indexOrigin(node: NodeProto, output: number): OutputOrigin {
  const { opType, input } = node
  const [first = '', second = ''] = input
  const axis = intAttribute(node, 'axis')
  if (opType === 'ArgMax' || opType === 'ArgMin') {
    const keepDims = intAttribute(node, 'keepdims') !== 0
    const last = intAttribute(node, 'select_last_index') === 1 ? { last: true } : {}
    return {
      kind: 'index',
      op: opType,
      tensor: first,
      axis: axis ?? 0,
      keepDims,
      largest: opType === 'ArgMax',
      ...last,
    }
  }
  if (opType === 'TopK' && output === 1) {
    const largest = intAttribute(node, 'largest') !== 0
    return { kind: 'index', op: opType, tensor: first, axis: axis ?? -1, keepDims: true, largest }
  }
  if (opType !== 'NonMaxSuppression') return PLAIN
  return { kind: 'index', op: opType, tensor: second, axis: 2, keepDims: true }
}

/** Both branches must agree, and the indexed tensor must be visible outside the branch. */
function branchOrigin(node: NodeProto, output: number): OutputOrigin {
  const [first, second] = ['then_branch', 'else_branch'].map((name) =>
    branchOutput(findAttribute(node, name)?.g, output),
  )
  if (!first || !second || first.kind !== second.kind) return PLAIN
  if (first.kind !== 'index' || second.kind !== 'index') return first
  return JSON.stringify(first) === JSON.stringify(second) ? first : PLAIN
}

function branchOutput(graph: GraphProto | undefined, output: number): OutputOrigin {
  const name = graph?.output[output]?.name
  if (!graph || name === undefined) return PLAIN
  const origin = originIn(graph, name)
  const own = origin.kind === 'index' && definedNames(graph).has(origin.tensor)
  return own ? PLAIN : origin
}

function definedNames(graph: GraphProto): Set<string> {
  const named = [...graph.input, ...graph.initializer].map(({ name }) => name)
  return new Set([...named, ...graph.node.flatMap((node) => node.output)])
}

function producersOf(graph: GraphProto): Map<string, NodeProto> {
  return new Map(graph.node.flatMap((node) => node.output.map((name) => [name, node] as const)))
}

/** The graph input or output that is the same value under another name, as Identity makes; otherwise the name itself. */
function visibleName(graph: GraphProto, name: string): string {
  const producers = producersOf(graph)
  const visible = [...graph.output, ...graph.input].map((info) => info.name)
  if (visible.includes(name)) return name
  const root = identityRoot(name, producers)
  return visible.find((other) => identityRoot(other, producers) === root) ?? name
}

function identityRoot(name: string, producers: ReadonlyMap<string, NodeProto>): string {
  let root = name
  for (let step = 0; step < MAX_STEPS; step++) {
    const node = producers.get(root)
    if (node?.opType !== 'Identity' || normaliseDomain(node) !== '' || !node.input[0]) break
    root = node.input[0]
  }
  return root
}
