import { formatShape } from '../../domain/tensor.ts'
import { formatMeasured } from '../rules/rule-text.ts'
import { type AxisMap, findAxisMaps } from './axis-maps.ts'
import type { OpenPair } from './element-reader.ts'
import { findShift } from './find-shift.ts'
import { type DiffFinding, EXPLAINED, FEWEST } from './finding.ts'
import { measureAxisMap, measureShift } from './measure-axis-map.ts'
import { measureOrder } from './measure-order.ts'
import { type MemoryOrder, memoryOrders, misreadOrders, sourcePlace } from './memory-orders.ts'
import { joined, type Residual } from './residual.ts'
import { type Samples, squaredDistance, squaredSpread, valuesAt } from './samples.ts'

export interface OrderQuestion {
  readonly pair: OpenPair
  readonly samples: Samples
  readonly targetShape: readonly number[]
  /** relL2 of the pair; null where its shapes differ. */
  readonly before: number | null
  /** An explanation must reduce relL2 well below this. */
  readonly unexplained: number
}

/** Whether the target has the reference's values at other places; the first explanation proved on all elements. */
export function orderFindings(question: OrderQuestion): DiffFinding[] {
  if (question.pair.count < FEWEST) return []
  if (question.before === null) return [reshaped(question) ?? transposed(question)].filter((found) => found !== null)
  const found = transposed(question) ?? moved(question)
  return found ? [found] : []
}

/** Picks the better of a shift along an axis and a shift in memory. */
function moved(question: OrderQuestion): DiffFinding | null {
  const along = movedAlongAxis(question)
  if (along && along.kind !== 'shifted-along') return along
  const inMemory = movedInMemory(question)
  const covers = (finding: DiffFinding | null) => Number(finding?.evidence.compared ?? 0)
  return covers(inMemory) > covers(along) ? inMemory : along
}

function explains({ unexplained }: OrderQuestion, { relL2 }: Residual): boolean {
  return relL2 <= EXPLAINED * unexplained
}

/** `relL2 1.41 → 3e-8` */
export function change(before: number | null, after: number): string {
  return before === null
    ? `relL2 ${formatMeasured(after)}`
    : `relL2 ${formatMeasured(before)} → ${formatMeasured(after)}`
}

function reshaped(question: OrderQuestion): DiffFinding | null {
  const { pair, targetShape } = question
  const residual = measureShift(pair, 0).kept
  if (!explains(question, residual)) return null
  const after = residual.relL2
  const shapes = `${formatShape(targetShape)} instead of ${formatShape(pair.shape)}`
  const text = `reshaped: the same values in the same order, as ${shapes}: ${change(null, after)}`
  return { kind: 'reshaped', text, before: null, after, evidence: {} }
}

function transposed(question: OrderQuestion): DiffFinding | null {
  const order = likeliestOrder(question)
  if (!order) return null
  const residual = measureOrder(question.pair, order)
  if (!explains(question, residual)) return null
  const { before } = question
  const after = residual.relL2
  const text = orderText(order, question, change(before, after))
  const readAs = isMisread(order, question) ? { readAs: order.from } : {}
  const evidence = { axes: order.axes, ...readAs, compared: residual.finite }
  return { kind: 'transposed', text, before, after, evidence }
}

function isMisread({ from }: MemoryOrder, { pair }: OrderQuestion): boolean {
  return from.join() !== pair.shape.join()
}

function likeliestOrder({ pair, samples, before, targetShape }: OrderQuestion): MemoryOrder | null {
  const own = before === null ? Number.POSITIVE_INFINITY : squaredDistance(samples.target, samples.reference)
  const limit = EXPLAINED ** 2 * Math.min(own, squaredSpread(samples.target))
  let best: { order: MemoryOrder; distance: number } | null = null
  for (const order of [...memoryOrders(pair.shape), ...misreadOrders(targetShape)]) {
    const places = samples.places.map((place) => sourcePlace(order, place))
    const distance = squaredDistance(samples.target, valuesAt(pair.reference, places))
    if (distance < limit && distance < (best?.distance ?? Number.POSITIVE_INFINITY)) best = { order, distance }
  }
  return best?.order ?? null
}

const LAYOUTS: Readonly<Record<string, string>> = {
  '0,2,3,1': ', so channels last (NHWC) is stored where channels first (NCHW) is expected',
  '0,3,1,2': ', so channels first (NCHW) is stored where channels last (NHWC) is expected',
}

const MISREADINGS: Readonly<Record<string, string>> = {
  '0,3,1,2': ', so channels first (NCHW) is read as channels last (NHWC)',
  '0,2,3,1': ', so channels last (NHWC) is read as channels first (NCHW)',
}

function orderText(order: MemoryOrder, question: OrderQuestion, numbers: string): string {
  const { axes, shape, from } = order
  const { targetShape } = question
  const long = (sizes: readonly number[]) => sizes.filter((size) => size > 1).join()
  if (isMisread(order, question)) {
    const layout = MISREADINGS[axes.join()] ?? ''
    return `transposed after misreading: the target is the reference's memory read as ${formatShape(from)}${layout}, then transposed by ${formatShape(axes)}: ${numbers} once that is undone`
  }
  if (long(shape) === long(targetShape)) {
    return `transposed: the target is the reference with its axes in the order ${formatShape(axes)}: ${numbers} after the same transpose`
  }
  const layout = LAYOUTS[axes.join()] ?? ''
  return `transposed in memory: the target's values are stored in axis order ${formatShape(axes)}${layout}: ${numbers} once they are reordered`
}

function movedAlongAxis(question: OrderQuestion): DiffFinding | null {
  const found = findAxisMaps(question.pair).flatMap((map) => {
    const move = describeMap(map)
    return move ? [{ move, map, residual: measureAxisMap(question.pair, map) }] : []
  })
  const [best] = found.sort((a, b) => a.residual.relL2 - b.residual.relL2)
  if (!best || !explains(question, best.residual)) return null
  const { before } = question
  const after = best.residual.relL2
  const { kind, words, undone, evidence } = best.move
  const text = `${words}: ${change(before, after)} ${undone}${overlap(best.residual, question.pair)}`
  return { kind, text, before, after, evidence: { axis: best.map.axis, ...evidence, compared: best.residual.finite } }
}

function overlap({ finite }: Residual, { count }: OpenPair): string {
  const share = finite / count
  return share > 0.999 ? '' : `, on the ${Math.floor(share * 100)} % of the elements that overlap`
}

interface Move {
  readonly kind: 'permuted' | 'rolled' | 'shifted-along' | 'reversed'
  readonly words: string
  readonly undone: string
  readonly evidence: DiffFinding['evidence']
}

/** Few indices are listed one by one, whatever pattern they have. */
const FEW_INDICES = 4
const LISTED = 6

function describeMap({ axis, sources }: AxisMap): Move | null {
  const by = commonOffset(sources)
  const unknown = sources.filter((source) => source < 0).length
  if (by !== null && sources.length > FEW_INDICES) return describeOffset(axis, by, sources.length, unknown)
  if (unknown > 0) return null
  if (sources.length > FEW_INDICES && sources.every((source, index) => source === sources.length - 1 - index)) {
    const words = `reversed: along axis ${axis} the target runs backwards`
    return { kind: 'reversed', words, undone: 'once reversed back', evidence: {} }
  }
  const moved = [...sources.entries()].filter(([index, source]) => index !== source)
  const listed = moved.slice(0, LISTED).map(([index, source]) => `${index} holds ${source}`)
  const more = moved.length > LISTED ? ` and ${moved.length - LISTED} more` : ''
  const place = `${sources.length - moved.length} of ${sources.length} are in place`
  return {
    kind: 'permuted',
    words: `channels swapped: along axis ${axis} the target has the reference's slices in a different order, ${listed.join(', ')}${more} (${place})`,
    undone: 'with each in its place',
    evidence: { targetIndices: moved.map(([index]) => index), referenceIndices: moved.map(([, source]) => source) },
  }
}

/** The common shift of all known indices, modulo the size; null if they differ. */
function commonOffset(sources: readonly number[]): number | null {
  const size = sources.length
  const offsets = new Set(sources.flatMap((source, index) => (source < 0 ? [] : [(index - source + size) % size])))
  const [offset] = offsets
  if (offsets.size !== 1 || offset === undefined || offset === 0) return null
  return offset > size / 2 ? offset - size : offset
}

/** Only indices that wrapped around may be unknown. */
function describeOffset(axis: number, by: number, size: number, unknown: number): Move | null {
  if (unknown > Math.abs(by) || unknown > size / 2) return null
  const isRolled = unknown === 0
  const words = `${isRolled ? 'rolled' : 'shifted'}: the target is moved ${by > 0 ? by : -by} ${by > 0 ? 'forward' : 'backward'} along axis ${axis}${isRolled ? ', wrapping around' : ''}`
  return { kind: isRolled ? 'rolled' : 'shifted-along', words, undone: 'once moved back', evidence: { by } }
}

function movedInMemory(question: OrderQuestion): DiffFinding | null {
  const { pair, before } = question
  const by = findShift(pair)
  if (by === null || Math.abs(by) > pair.count / 2) return null
  const { kept, wrapped } = measureShift(pair, by)
  if (!explains(question, kept)) return null
  const isCircular = explains(question, wrapped)
  const residual = isCircular ? joined(kept, wrapped) : kept
  const where = `${Math.abs(by)} elements ${by > 0 ? 'forward' : 'backward'} in memory${isCircular ? ', wrapping around' : ''}`
  const text = `${isCircular ? 'rolled' : 'shifted'}: the target is moved ${where}: ${change(before, residual.relL2)} once moved back${overlap(residual, pair)}`
  return {
    kind: isCircular ? 'rolled' : 'shifted-along',
    text,
    before,
    after: residual.relL2,
    evidence: { by, compared: residual.finite },
  }
}
