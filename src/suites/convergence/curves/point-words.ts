import { digitsApart, formatNumber } from '../../../domain/text.ts'
import type { JudgedPoint } from './contract.ts'
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
  return isRounding ? `${text}, missed by a rounding error` : text
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
