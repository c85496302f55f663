import { findEntry } from '../../domain/entry.ts'
import type { ModelProto, NodeProto } from '../generated/onnx-ml_pb.ts'
import { findAttribute, nodeLabel } from '../walk.ts'
import { type GraphScope, scopeOfGraph, viewNode } from './graph-scope.ts'
import type { NodeUse } from './input-roles.ts'

/** What operators require of a graph input's shape. */
export interface AskedShape {
  /** The required number of axes; null if no operator requires one. */
  readonly rank: number | null
  /** By axis; negative ones count from the end. */
  readonly sizes: ReadonlyMap<number, AskedSize>
}

export interface AskedSize {
  readonly size: number
  readonly because: string
}

interface Ask {
  readonly rank?: number
  readonly axis?: number
  readonly size?: number | null | undefined
}

/** Operator → the shape its first input must have, according to its weights. */
const ASKS: Readonly<Record<string, (site: NodeUse) => Ask>> = {
  Conv: (site) => convolved(site, (weights) => times(weights[1], site.attribute('group', 1))),
  ConvTranspose: (site) => convolved(site, (weights) => weights[0]),
  BatchNormalization: (site) => ({ axis: 1, size: site.shapeOf(1)?.[0] }),
  InstanceNormalization: (site) => ({ axis: 1, size: site.shapeOf(1)?.[0] }),
  MatMul: (site) => ({ axis: -1, size: site.shapeOf(1)?.at(-2) }),
  Gemm: (site) => ({
    rank: 2,
    axis: site.attribute('transA', 0) === 1 ? 0 : 1,
    size: site.shapeOf(1)?.[site.attribute('transB', 0)],
  }),
  LSTM: (site) => ({ rank: 3, axis: 2, size: site.shapeOf(1)?.[2] }),
  GRU: (site) => ({ rank: 3, axis: 2, size: site.shapeOf(1)?.[2] }),
  RNN: (site) => ({ rank: 3, axis: 2, size: site.shapeOf(1)?.[2] }),
  MaxPool: pooled,
  AveragePool: pooled,
}

function convolved(site: NodeUse, channels: (weights: readonly (number | null)[]) => number | null | undefined): Ask {
  const weights = site.shapeOf(1)
  return weights ? { rank: weights.length, axis: 1, size: channels(weights) } : {}
}

function pooled({ node }: NodeUse): Ask {
  const kernel = findAttribute(node, 'kernel_shape')?.ints
  return kernel ? { rank: kernel.length + 2 } : {}
}

const times = (size: number | null | undefined, by: number) => (size ? size * by : null)

const KEEPING = new Set(
  'Identity Cast CastLike Dropout Relu LeakyRelu Sigmoid Tanh Neg Abs Exp Log Sqrt Clip Floor Ceil Round'.split(' '),
)
const BROADCASTING = new Set(['Add', 'Sub', 'Mul', 'Div', 'Pow'])

/** A value with the shape of a graph input, possibly with reordered axes. */
interface Likeness {
  readonly name: string
  /** Axis i of the value is this axis of the input; null: the same order. */
  readonly axes: readonly number[] | null
}

/** For every graph input whose shape reaches an operator with a required shape. */
export function findAskedShapes({ graph }: ModelProto): Map<string, AskedShape> {
  if (!graph) return new Map()
  const scope = scopeOfGraph(graph)
  return new Map(graph.input.map(({ name }) => [name, askedOf(name, scope)]))
}

function askedOf(input: string, scope: GraphScope): AskedShape {
  const asked = { rank: null as number | null, sizes: new Map<number, AskedSize>() }
  const queue: Likeness[] = [{ name: input, axes: null }]
  const seen = new Set<string>()
  for (const like of queue) {
    if (seen.has(like.name)) continue
    seen.add(like.name)
    for (const { node, position } of scope.consumers.get(like.name) ?? []) {
      const site = viewNode(scope, node)
      for (const ask of asksOf(site, position)) note(asked, node, like, ask)
      queue.push(...handedOn(site, position, like))
    }
  }
  return asked
}

function asksOf(site: NodeUse, position: number): Ask[] {
  const { opType } = site.node
  if (BROADCASTING.has(opType)) return sharedAxes(site.constantShape(1 - position) ?? [])
  return position === 0 ? [findEntry(ASKS, opType)?.(site) ?? {}] : []
}

/** Along an axis where a constant has more than one element, the input must have as many, or one. */
function sharedAxes(constant: readonly number[]): Ask[] {
  return constant.flatMap((size, i) => (size > 1 ? [{ axis: i - constant.length, size }] : []))
}

function note(
  asked: { rank: number | null; sizes: Map<number, AskedSize> },
  node: NodeProto,
  { axes }: Likeness,
  { rank, axis, size }: Ask,
): void {
  asked.rank ??= rank ?? axes?.length ?? null
  const at = axis === undefined || axes === null ? axis : axes.at(axis)
  if (at === undefined || !size || asked.sizes.has(at)) return
  asked.sizes.set(at, { size, because: `required by ${nodeLabel(node)}` })
}

function handedOn({ node, constantShape }: NodeUse, position: number, { axes }: Likeness): Likeness[] {
  const { opType, output } = node
  const name = output[0] ?? ''
  if (opType === 'Transpose') return permuted(node, axes)
  if (KEEPING.has(opType) && position === 0) return [{ name, axes }]
  return BROADCASTING.has(opType) && constantShape(1 - position) ? [{ name, axes }] : []
}

function permuted(node: NodeProto, axes: Likeness['axes']): Likeness[] {
  const order = findAttribute(node, 'perm')?.ints.map(Number)
  return order ? [{ name: node.output[0] ?? '', axes: order.map((axis) => axes?.[axis] ?? axis) }] : []
}
