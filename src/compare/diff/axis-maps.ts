import { elementCount } from '../../domain/tensor.ts'
import type { ElementReader, OpenPair } from './element-reader.ts'
import { EXPLAINED } from './finding.ts'
import { randomFractions, squaredDistance, squaredSpread } from './samples.ts'

/** For one axis: which index of the reference each index of the target holds; −1: unknown. */
export interface AxisMap {
  readonly axis: number
  readonly sources: readonly number[]
}

/** How many elements an index needs so that two indices can be told apart. */
const FEWEST_PER_INDEX = 4
/** How many elements of each index are compared. */
const LOOKED_AT = 16
const MOST_INDICES = 4096
/** The most indices if each index must be read separately. */
export const MOST_SCATTERED = 1024

/** Finds axes along which the target has the reference's slices at other indices, from a few elements per index. */
export function findAxisMaps(pair: OpenPair): AxisMap[] {
  return pair.shape.flatMap((size, axis) => {
    const inner = elementCount(pair.shape.slice(axis + 1))
    const perIndex = pair.count / size
    const most = inner === 1 ? MOST_INDICES : MOST_SCATTERED
    if (size < 2 || size > most || perIndex < FEWEST_PER_INDEX) return []
    const columns = someColumns(pair.count / size, inner, size)
    const sources = matchIndices(
      signatures(pair.reference, columns, size, inner),
      signatures(pair.target, columns, size, inner),
    )
    return sources.some((source, index) => source >= 0 && source !== index) ? [{ axis, sources }] : []
  })
}

/** The first places of some columns along an axis. */
function someColumns(columns: number, inner: number, size: number): number[] {
  const random = randomFractions(columns)
  const count = Math.min(columns, LOOKED_AT)
  return Array.from({ length: count }, (_, i) => {
    const column = Math.floor(((i + random()) * columns) / count)
    return Math.floor(column / inner) * size * inner + (column % inner)
  })
}

/** The compared elements of every index. */
function signatures(reader: ElementReader, columns: readonly number[], size: number, inner: number): Float64Array[] {
  const found = Array.from({ length: size }, () => new Float64Array(columns.length))
  const numbers = new Float64Array(inner === 1 ? size : 1)
  for (const [k, column] of columns.entries()) {
    if (inner === 1) reader.read(column, size, numbers)
    for (let index = 0; index < size; index++) {
      if (inner > 1) reader.read(column + index * inner, 1, numbers)
      found[index]![k] = numbers[inner === 1 ? index : 0]!
    }
  }
  return found
}

function matchIndices(reference: readonly Float64Array[], target: readonly Float64Array[]): number[] {
  return target.map((signature, index) => {
    const own = squaredDistance(signature, reference[index]!)
    // Skip slices that are in place, and constant ones, which cannot be told apart.
    const spread = squaredSpread(signature)
    if (own === 0 || Number.isNaN(own)) return own === 0 ? index : -1
    const best = nearest(signature, reference)
    if (best.distance < EXPLAINED ** 2 * own && best.distance < EXPLAINED ** 2 * spread) return best.index
    return own < EXPLAINED ** 2 * spread ? index : -1
  })
}

function nearest(signature: Float64Array, candidates: readonly Float64Array[]): { index: number; distance: number } {
  let best = { index: -1, distance: Number.POSITIVE_INFINITY }
  for (const [index, candidate] of candidates.entries()) {
    const distance = squaredDistance(signature, candidate)
    if (distance < best.distance) best = { index, distance }
  }
  return best
}
