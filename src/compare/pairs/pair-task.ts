import type { DType } from '../../domain/dtype.ts'
import { findExponent, powerOfTwo } from '../../tensors/float-format.ts'
import { relativeUlp, ulpSize } from '../../tensors/ulp.ts'
import type { BlockLimits, KernelName } from '../kernels/contract.ts'
import * as at from '../kernels/layout.ts'
import type { PairLimits } from './pair-statistics.ts'

/** What has to be known before measuring. */
export interface PairTask {
  readonly referenceDType: DType
  readonly targetDType: DType
  readonly limits: PairLimits
  readonly maxReference: number
  /** Everything in float64, as the referee does. */
  readonly isExact: boolean
  readonly kernels: KernelName
}

/** Dtypes of the scan. */
export const SCANNED: Readonly<Partial<Record<DType, number>>> = {
  float32: at.FLOAT32,
  float16: at.FLOAT16,
  bfloat16: at.BFLOAT16,
}

/** In between, float32 has room for errors of this scale and for their squares. */
const LEAST_SCANNED = 2 ** -60
const MOST_SCANNED = 2 ** 60

/** How limits are tightened, so that roundings of float32 cannot hide who is over one. */
export const TIGHTER = 1 - 1e-6
/** The smallest normal float32; below it products round more coarsely. */
const LEAST_NORMAL = 2 ** -126
/** Up to this many steps, comparing an error with its limit is exact in float32. */
const EXACT_STEPS = 16

/** How the scan reads chunks, null where everything is float64, and a power of two that brings the reference near 1. */
export function chooseScaling(task: PairTask): { readonly kind: number | null; readonly unit: number } {
  const kind = task.kernels === 'wasm' && !task.isExact ? scannedKind(task) : null
  return { kind, unit: kind === null ? unitFor(task.maxReference) : 1 }
}

function scannedKind({ referenceDType, targetDType, maxReference }: PairTask): number | null {
  if (referenceDType !== targetDType || maxReference > MOST_SCANNED) return null
  return maxReference > 0 && maxReference < LEAST_SCANNED ? null : (SCANNED[referenceDType] ?? null)
}

/** Limits in float32 that are never above `part` times the true ones. */
export function tightened({ rtol, constant, ulps }: BlockLimits, part: number): BlockLimits {
  const factor = part * TIGHTER
  const areExact = part === 1 && ulps <= EXACT_STEPS
  return { rtol: rtol * factor, constant: constant * factor - LEAST_NORMAL, ulps: areExact ? ulps : ulps * factor }
}

/** The largest float32 that is not above it. */
export function roundedDown(value: number): number {
  const nearest = Math.fround(value)
  return nearest > value ? value * TIGHTER : nearest
}

function unitFor(maxReference: number): number {
  if (maxReference === 0) return 1
  return powerOfTwo(Math.min(1000, Math.max(-1000, -findExponent(maxReference))))
}

/** Whether a step of the storage dtype can be larger than the limits; in float32 it practically never is. */
export function mayBeBelowUlp({ rtol, constant, relL2, ulps, ulpDType }: PairLimits): boolean {
  if (ulps === 0 || ulpDType === null) return false
  const step = ulps * relativeUlp(ulpDType)
  return !(step < 1e-6 && rtol >= step && constant >= ulps * ulpSize(ulpDType, 0) && (relL2 === null || relL2 >= step))
}
