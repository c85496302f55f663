import type { Operator } from '../../../domain/convergence.ts'
import type { Edges } from './contract.ts'

/** What a value may be; null where there is no limit on that side. */
export interface ValueLimits {
  readonly low: number | null
  readonly high: number | null
  readonly edges: Edges
}

export const NO_LIMITS: ValueLimits = { low: null, high: null, edges: 'allowed' }

/** As Python's math.isclose without an absolute term does it, to the last rounding. */
function isClose(reference: number, target: number, margin: number): boolean {
  const distance = Math.abs(reference - target)
  return reference === target || distance <= margin * Math.max(Math.abs(reference), Math.abs(target))
}

/** The documented rule; what is not finite on either side fails every operator. */
export function passesDocumented(reference: number, operator: Operator, target: number, margin: number): boolean {
  if (!Number.isFinite(reference) || !Number.isFinite(target)) return false
  if (operator === '<') return target < reference
  if (operator === '>') return target > reference
  const close = isClose(reference, target, margin)
  if (operator === '==') return close
  if (operator === '!=') return !close
  return close || (operator === '<=' ? target < reference : target > reference)
}

const MIRRORED: Readonly<Record<Operator, Operator>> = {
  '==': '==',
  '!=': '!=',
  '<=': '>=',
  '<': '>',
  '>=': '<=',
  '>': '<',
}

/** The limits of the documented rule; where rounding matters, the rule itself decides. */
export function documentedLimits(reference: number, operator: Operator, margin: number): ValueLimits {
  if (reference < 0) return mirrored(documentedLimits(-reference, MIRRORED[operator], margin))
  if (operator === '<') return { low: null, high: reference, edges: 'forbidden' }
  if (operator === '>') return { low: reference, high: null, edges: 'forbidden' }
  const close = closeTo(reference, margin)
  if (operator === '==') return close
  if (operator === '!=') return inverted(close)
  if (operator === '<=') return margin < 1 ? { ...close, low: null } : NO_LIMITS
  return close.edges === 'outside' ? close : { ...close, high: null }
}

/** Of a reference that is not negative. From a margin of 1 on every value of the same sign is close, from 2 on every value. */
function closeTo(reference: number, margin: number): ValueLimits {
  const [near, far] = [reference * (1 - margin), reference / (1 - margin)]
  if (margin < 1) return { low: near, high: bounded(far), edges: 'allowed' }
  if (reference === 0 || margin >= 2) return NO_LIMITS
  if (margin === 1) return { low: 0, high: null, edges: 'allowed' }
  // Far on the other side the margin, which grows with the target, is larger than the distance again.
  return { low: bounded(far), high: bounded(near), edges: 'outside' }
}

function inverted({ low, high, edges }: ValueLimits): ValueLimits {
  if (edges === 'outside') return { low, high, edges: 'forbidden' }
  if (low !== null && high === null) return { low: null, high: low, edges: 'forbidden' }
  return { low, high, edges: 'outside' }
}

function mirrored({ low, high, edges }: ValueLimits): ValueLimits {
  return { low: high === null ? null : 0 - high, high: low === null ? null : 0 - low, edges }
}

/** Limits at a distance from the centre, on the side or sides that the operator bounds. */
export function limitsAround(centre: number, operator: Operator, reach: number): ValueLimits {
  const [low, high] = [bounded(centre - reach), bounded(centre + reach)]
  if (operator === '==') return { low, high, edges: 'allowed' }
  if (operator === '!=') return { low, high, edges: 'outside' }
  const edges = operator === '<=' || operator === '>=' ? 'allowed' : 'forbidden'
  return operator === '<=' || operator === '<' ? { low: null, high, edges } : { low, high: null, edges }
}

/** A limit that is not finite is no limit. */
function bounded(limit: number): number | null {
  return Number.isFinite(limit) ? limit : null
}

export function isWithin({ low, high, edges }: ValueLimits, value: number): boolean {
  if (!Number.isFinite(value)) return false
  if (edges === 'outside') return (low !== null && value < low) || (high !== null && value > high)
  if (edges === 'forbidden') return (low === null || value > low) && (high === null || value < high)
  return (low === null || value >= low) && (high === null || value <= high)
}
