import type { DType } from '../domain/dtype.ts'
import * as at from './kernels/layout.ts'
import { Quantiles } from './quantiles.ts'
import { WorstPlaces } from './worst-places.ts'

/** A place is over its limit unless |t − r| ≤ rtol·|r| + constant, or within `ulps` steps of the storage dtype. */
export interface PairLimits {
  readonly rtol: number
  readonly constant: number
  /** Limit of ‖t − r‖ / ‖r‖, where there is one. */
  readonly relL2: number | null
  readonly ulps: number
  /** null for integers. */
  readonly ulpDType: DType | null
}

/** Sums over pairs of finite numbers; squares are of numbers times `unit`, a power of two, so that none over- or underflows. */
interface Sums {
  readonly finite: number
  readonly abs: number
  readonly difference: number
  readonly reference: number
  readonly target: number
  readonly product: number
  readonly halfUlp: number
  readonly relative: number
  readonly relativeCount: number
}

/** What does not depend on the order in which chunks are measured, and so can be merged in any. */
export class PairExtremes {
  count = 0
  different = 0
  overLimit = 0
  nonFiniteMismatches = 0
  nanReference = 0
  nanTarget = 0
  infReference = 0
  infTarget = 0
  maxReference = 0
  maxAbs = 0
  maxRelative = 0
  maxUlp = 0
  /** What the constant of the limits would have had to be. */
  neededConstant = 0
  isConstant = true
  /** The first element of both sides, all of whose parts the others repeat while it is constant. */
  first: { readonly reference: Float64Array; readonly target: Float64Array } | null = null
  readonly absQuantiles = new Quantiles()
  readonly relativeQuantiles = new Quantiles()
  readonly worst = new WorstPlaces()
}

/** Everything that is measured of two tensors. Numbers that are not finite are counted and kept out of the sums. */
export interface PairStatistics extends PairExtremes {
  readonly sums: Sums
  readonly limits: PairLimits
  readonly unit: number
  /** Sums were kept in float32 for a while: they are off by up to 5e-6, hardly ever by more than 1e-7. */
  readonly isRounded: boolean
}

/** Adds the sums of chunks, one after the other in their order, so that threads change nothing. */
export function mergeSums(chunks: readonly Float64Array[]): Sums {
  const totals = new Float64Array(at.SUMS)
  for (const chunk of chunks) for (let i = 0; i < at.SUMS; i++) totals[i]! += chunk[i]!
  return {
    finite: totals[at.SUM_FINITE]!,
    abs: totals[at.SUM_ABS]!,
    difference: totals[at.SUM_DIFFERENCE]!,
    reference: totals[at.SUM_REFERENCE]!,
    target: totals[at.SUM_TARGET]!,
    product: totals[at.SUM_PRODUCT]!,
    halfUlp: totals[at.SUM_HALF_ULP]!,
    relative: totals[at.SUM_RELATIVE]!,
    relativeCount: totals[at.SUM_RELATIVE_COUNT]!,
  }
}
