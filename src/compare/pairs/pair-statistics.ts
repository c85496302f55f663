import type { DType } from '../../domain/dtype.ts'
import * as at from '../kernels/layout.ts'
import { type Counted, Quantiles } from './quantiles.ts'
import { type RankedPlace, WorstPlaces } from './worst-places.ts'

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

/** What is counted, and what is largest: the same in whatever order chunks are measured. */
interface Extremes {
  count: number
  different: number
  overLimit: number
  nonFiniteMismatches: number
  nanReference: number
  nanTarget: number
  infReference: number
  infTarget: number
  maxReference: number
  maxAbs: number
  maxRelative: number
  maxUlp: number
  /** The constant that the limits would have needed. */
  neededConstant: number
}

/** One thread's findings, without the sums of each chunk; can be sent between threads. */
export interface PairPart {
  readonly extremes: Extremes
  readonly isConstant: boolean
  /** The first element of both sides, which all others repeat if it is constant. */
  readonly first: { readonly reference: Float64Array; readonly target: Float64Array } | null
  readonly absolute: Counted
  readonly relative: Counted
  readonly worst: readonly RankedPlace[]
}

/** Everything that is measured of two tensors. Numbers that are not finite are counted and kept out of the sums. */
export interface PairStatistics extends Readonly<Extremes> {
  readonly isConstant: boolean
  readonly sums: Sums
  readonly absQuantiles: Quantiles
  readonly relativeQuantiles: Quantiles
  readonly worst: WorstPlaces
  readonly limits: PairLimits
  readonly unit: number
  /** Sums were kept in float32 for a while: they are off by up to 5e-6 of themselves, hardly ever by more than 2e-7. */
  readonly isRounded: boolean
}

export function noExtremes(): Extremes {
  return {
    count: 0,
    different: 0,
    overLimit: 0,
    nonFiniteMismatches: 0,
    nanReference: 0,
    nanTarget: 0,
    infReference: 0,
    infTarget: 0,
    maxReference: 0,
    maxAbs: 0,
    maxRelative: 0,
    maxUlp: 0,
    neededConstant: 0,
  }
}

/** Combines the findings of all threads, in any order. */
export function mergeParts(parts: readonly PairPart[]) {
  const extremes = noExtremes()
  const worst = new WorstPlaces()
  for (const part of parts) {
    for (const name of Object.keys(extremes) as (keyof Extremes)[]) {
      const value = part.extremes[name]
      extremes[name] = /^(max|needed)/.test(name) ? Math.max(extremes[name], value) : extremes[name] + value
    }
    worst.merge(part.worst)
  }
  return {
    ...extremes,
    isConstant: parts.every((part) => part.isConstant) && haveSameFirst(parts),
    absQuantiles: new Quantiles(parts.map(({ absolute }) => absolute)),
    relativeQuantiles: new Quantiles(parts.map(({ relative }) => relative)),
    worst,
  }
}

function haveSameFirst(parts: readonly PairPart[]): boolean {
  const firsts = parts.flatMap(({ first }) => first ?? [])
  return firsts.every(({ reference, target }) => {
    return isRepeated(firsts[0]!.reference, reference) && isRepeated(firsts[0]!.target, target)
  })
}

/** Whether numbers are the first ones again and again; 0 is −0 and NaN is NaN. */
export function isRepeated(first: Float64Array, numbers: Float64Array): boolean {
  for (let i = 0; i < numbers.length; i++) {
    const wanted = first[i % first.length]!
    if (numbers[i] !== wanted && !(Number.isNaN(numbers[i]) && Number.isNaN(wanted))) return false
  }
  return true
}

/** Adds the sums of chunks in order, so that the number of threads changes nothing. */
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
