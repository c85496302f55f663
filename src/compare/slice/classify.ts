import type { DType } from '../../domain/dtype.ts'
import { decodeDifferences, decodeNumbers } from '../../tensors/decode.ts'
import { floatFormat } from '../../tensors/float-format.ts'
import { allowedAt } from '../kernels/scalar.ts'
import type { PairLimits } from '../pairs/pair-statistics.ts'
import { mayBeBelowUlp } from '../pairs/pair-task.ts'

/** How two elements compare. */
export const EQUAL = 0
export const WITHIN = 1
export const OVER = 2
/** NaN or an infinity that differs from the other side. */
export const NON_FINITE = 3

/** Elements of both sides as numbers. */
export interface NumberPairs {
  readonly reference: Float64Array
  readonly target: Float64Array
  /** target − reference; of 64-bit integers zero only where they are the same. */
  readonly difference: Float64Array
}

export interface RawTensor {
  readonly dtype: DType
  readonly bytes: Uint8Array
}

/** Decodes `count` elements of both sides, into `room` if it is large enough. */
export function decodePairs(
  reference: RawTensor,
  target: RawTensor,
  count: number,
  room: NumberPairs = roomFor(count),
): NumberPairs {
  const pairs = partOf(room, count)
  decodeNumbers(reference.dtype, reference.bytes, 0, count, pairs.reference)
  decodeNumbers(target.dtype, target.bytes, 0, count, pairs.target)
  const { dtype } = reference
  if ((dtype === 'int64' || dtype === 'uint64') && dtype === target.dtype) {
    decodeDifferences(dtype, reference.bytes, target.bytes, count, pairs.difference)
  } else {
    subtract(pairs, count)
  }
  return pairs
}

function subtract({ reference, target, difference }: NumberPairs, count: number): void {
  for (let i = 0; i < count; i++) difference[i] = target[i]! - reference[i]!
}

export function roomFor(count: number): NumberPairs {
  const room = () => new Float64Array(count)
  return { reference: room(), target: room(), difference: room() }
}

function partOf({ reference, target, difference }: NumberPairs, count: number): NumberPairs {
  const part = (numbers: Float64Array) => numbers.subarray(0, count)
  return { reference: part(reference), target: part(target), difference: part(difference) }
}

/** Whether a step of the storage dtype counts besides the limits. */
export function hasSteps(limits: PairLimits): boolean {
  return limits.ulpDType !== null && mayBeBelowUlp(limits)
}

/** How far the target may be off where the reference has this value. */
export function allowance(limits: PairLimits): (reference: number) => number {
  const { rtol, constant, ulpDType } = limits
  const format = ulpDType !== null && hasSteps(limits) ? floatFormat(ulpDType) : undefined
  if (format === undefined) return (r) => rtol * Math.abs(r) + constant
  return (r) => allowedAt(r, limits, format)
}

/**
 * Error in parts of what is allowed, which sorts elements from equal to worst: 0 is equal, up to 1 is within, above is
 * over, and NaN stands for a NaN or infinity that does not meet the same.
 */
export function measureSeverity(r: number, t: number, difference: number, allowed: number): number {
  if (difference === 0) return 0
  if (!(Number.isFinite(r) && Number.isFinite(t))) return Object.is(r, t) ? 0 : Number.NaN
  return finiteSeverity(Math.abs(difference), allowed)
}

/** For a non-zero error; an infinite one is over even a limit that overflowed. */
export function finiteSeverity(error: number, allowed: number): number {
  const part = error / allowed
  if (error <= allowed && error < Infinity) return part > 0 ? part : Number.MIN_VALUE
  return part > 1 ? part : LEAST_OVER
}

const LEAST_OVER = 1 + Number.EPSILON

export function classifySeverity(severity: number): number {
  if (severity === 0) return EQUAL
  if (severity <= 1) return WITHIN
  return severity > 1 ? OVER : NON_FINITE
}

/** Whether the first is worse than the second. */
export function isWorse(a: number, b: number): boolean {
  return a > b || (Number.isNaN(a) && !Number.isNaN(b))
}
