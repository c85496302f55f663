import { digitsApart, formatNumber } from '../../domain/text.ts'
import type { JudgedPoint, JudgedSeries } from './contract.ts'
import { isWithin } from './operators.ts'

/** `1.2, limit ≤ 1.053` */
export function targetText(point: JudgedPoint): string {
  return `${shown(point, point.target)}, limit ${limitText(point)}`
}

/** With as many digits as tell the target and its limits apart. */
function shown({ target, low, high }: JudgedPoint, value: number): string {
  const numbers = [target, low, high].filter((number) => number !== null)
  return formatNumber(value, digitsApart(numbers))
}

/** What a point may be: `≤ 1.053`, `0.95 … 1.053`, `= 0.718`. */
export function limitText(point: JudgedPoint): string {
  if (point.isWarmUp) return 'any finite number'
  const text = boundsText(point)
  const isRounding = !point.passes && Number.isFinite(point.reference) && isWithin(point, point.target)
  return isRounding ? `${text}, missed by a rounding` : text
}

function boundsText(point: JudgedPoint): string {
  const { low, high, edges } = point
  const equal = edges === 'forbidden' ? '' : '='
  if (low === null && high === null) return edges === 'outside' ? 'nothing' : 'no limit'
  if (low === null) return `${equal ? '≤' : '<'} ${shown(point, high!)}`
  if (high === null) return `${equal ? '≥' : '>'} ${shown(point, low)}`
  if (low === high) return `${edges === 'outside' ? '≠' : '='} ${shown(point, low)}`
  const range = `${shown(point, low)} … ${shown(point, high)}`
  if (edges === 'outside') return `not ${range}`
  return equal ? range : `between ${range}`
}

/**
 * The point that is farthest beyond its limit, measured by the limit's distance from what was recorded, or nearest to
 * it where none is beyond; what is not finite comes first. Null: nothing has a limit.
 */
export function worstPoint({ points }: Pick<JudgedSeries, 'points'>): JudgedPoint | null {
  let worst: { point: JudgedPoint; size: Size } | null = null
  for (const point of points) {
    const size = sizeOf(point)
    if (size !== null && (worst === null || isLarger(size, worst.size))) worst = { point, size }
  }
  return worst?.point ?? null
}

interface Size {
  readonly ratio: number
  readonly distance: number
}

const INFINITE: Size = { ratio: Number.POSITIVE_INFINITY, distance: Number.POSITIVE_INFINITY }

/** By distance where both limits have no width, so that the ratio is infinite. */
function isLarger(a: Size, b: Size): boolean {
  return a.ratio > b.ratio || (a.ratio === b.ratio && a.distance > b.distance)
}

function sizeOf(point: JudgedPoint): Size | null {
  const { low, high, edges, target, reference, isWarmUp } = point
  if (!Number.isFinite(target) || !Number.isFinite(reference)) return INFINITE
  if (isWarmUp || (low === null && high === null)) return null
  const sides = [low === null ? null : [low - target, low], high === null ? null : [target - high, high]]
  const sizes = sides.filter((side) => side !== null).map(([distance, limit]) => beyond(distance!, limit! - reference))
  const worst = sizes.reduce((a, b) => (isLarger(a, b) ? a : b))
  return edges === 'outside' ? depth(point) : worst
}

function beyond(distance: number, width: number): Size {
  return { ratio: distance === 0 ? 0 : distance / Math.abs(width), distance }
}

/** How deep inside what it may not be. */
function depth({ low, high, target }: JudgedPoint): Size {
  const distance = Math.min(low === null ? Infinity : target - low, high === null ? Infinity : high - target)
  return beyond(distance, low === null || high === null ? 0 : (high - low) / 2)
}
