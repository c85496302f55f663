import type { JudgedPoint } from './contract.ts'

/**
 * The point that is farthest beyond its limit, measured by the limit's distance from what was recorded, or nearest to
 * it where none is beyond; what is not finite comes first. Null: nothing has a limit.
 */
export function worstPoint(points: readonly JudgedPoint[]): JudgedPoint | null {
  return worstFirst(points)[0] ?? null
}

/** Sorted by the same measure, without points that have no limit. */
export function worstFirst(points: readonly JudgedPoint[]): JudgedPoint[] {
  const sized = points.flatMap((point) => {
    const size = sizeOf(point)
    return size === null ? [] : [{ point, size }]
  })
  return sized.sort((a, b) => compareSizes(b.size, a.size)).map(({ point }) => point)
}

/** The point to look at: the worst one beyond its limit, or if there is none, the one farthest from the recording. */
export function furthestPoint(points: readonly JudgedPoint[]): JudgedPoint | null {
  const beyond = points.filter(({ passes }) => !passes)
  if (beyond.length > 0) return worstPoint(beyond)
  return points.reduce<JudgedPoint | null>(
    (most, point) => (most && partOf(most) >= partOf(point) ? most : point),
    null,
  )
}

/** As a part of what was recorded, where that is not 0. */
function partOf({ reference, target }: JudgedPoint): number {
  return Math.abs(reference === 0 ? target : (target - reference) / reference)
}

interface Size {
  readonly ratio: number
  readonly distance: number
}

const INFINITE: Size = { ratio: Number.POSITIVE_INFINITY, distance: Number.POSITIVE_INFINITY }

/** By distance where both limits have no width, so that the ratio is infinite. */
function compareSizes(a: Size, b: Size): number {
  if (a.ratio !== b.ratio) return a.ratio > b.ratio ? 1 : -1
  return a.distance === b.distance ? 0 : a.distance > b.distance ? 1 : -1
}

function sizeOf(point: JudgedPoint): Size | null {
  const { low, high, edges, target, reference, isWarmUp, passes } = point
  if (!Number.isFinite(target) || !Number.isFinite(reference)) return INFINITE
  if (isWarmUp || (low === null && high === null)) return passes ? null : beyond(Math.abs(target - reference), 0)
  if (edges === 'outside') return depth(point)
  const sides = [low === null ? null : [low - target, low], high === null ? null : [target - high, high]]
  const sizes = sides.filter((side) => side !== null).map(([distance, limit]) => beyond(distance!, limit! - reference))
  return sizes.reduce((a, b) => (compareSizes(a, b) > 0 ? a : b))
}

function beyond(distance: number, width: number): Size {
  return { ratio: distance === 0 ? 0 : distance / Math.abs(width), distance }
}

/** How deep inside what it may not be. */
function depth({ low, high, target }: JudgedPoint): Size {
  const distance = Math.min(low === null ? Infinity : target - low, high === null ? Infinity : high - target)
  return beyond(distance, low === null || high === null ? 0 : (high - low) / 2)
}
