import type { Direction, Metric } from '../../domain/result.ts'
import type { NumericPlan } from '../rules/numeric-plan.ts'
import type { PairStatistics } from './pair-statistics.ts'

interface Threshold {
  readonly threshold: number
  readonly provenance: string
}

export type Thresholds = Readonly<Partial<Record<string, Threshold>>>

const ZERO_REFERENCE = 'the reference is zero everywhere'
const NOTHING_FINITE = 'no value is finite on both sides'

/** All metrics of a pair of numeric tensors; those of errors are over the places that are finite on both sides. */
export function pairMetrics(statistics: PairStatistics, mismatches: number, thresholds: Thresholds): Metric[] {
  const { sums, count } = statistics
  const make = metricMaker(thresholds)
  return [
    ...absoluteMetrics(statistics, make),
    ...relativeMetrics(statistics, make),
    make('rmse', 'lower', rmse(statistics), sums.finite, NOTHING_FINITE),
    make('rel_l2', 'lower', relL2(statistics), sums.finite, NOTHING_FINITE),
    make('snr_db', 'higher', snrDb(statistics), sums.finite, NOTHING_FINITE),
    make('cosine', 'higher', cosine(statistics), sums.finite, 'one side is zero everywhere'),
    ...(statistics.limits.ulpDType === null ? [] : floatMetrics(statistics, make)),
    make('mismatch_fraction', 'lower', count === 0 ? 0 : mismatches / count, count),
  ]
}

type Make = (name: string, direction: Direction, value: number | null, count: number, reason?: string) => Metric

/** `reason` is set if the value is null. */
export function metricMaker(thresholds: Thresholds): Make {
  return (name, direction, value, count, reason) => ({
    name,
    direction,
    value,
    ...(value === null && reason !== undefined ? { reason } : {}),
    ...thresholds[name],
    count,
  })
}

function absoluteMetrics({ sums, unit, absQuantiles, maxAbs }: PairStatistics, make: Make): Metric[] {
  const quantile = (q: number) => scaleBack(absQuantiles.at(q), unit)
  const values = sums.finite === 0 ? null : { max: maxAbs, mean: sums.abs / sums.finite / unit }
  return [
    make('max_abs', 'lower', values?.max ?? null, sums.finite, NOTHING_FINITE),
    make('mean_abs', 'lower', values?.mean ?? null, sums.finite, NOTHING_FINITE),
    make('median_abs', 'lower', quantile(0.5), sums.finite, NOTHING_FINITE),
    make('p99_abs', 'lower', quantile(0.99), sums.finite, NOTHING_FINITE),
  ]
}

/** |t − r| / |r| where r is not zero; elsewhere there is no relative error, and `count` says over how many it was taken. */
function relativeMetrics({ sums, relativeQuantiles, maxRelative }: PairStatistics, make: Make): Metric[] {
  const count = sums.relativeCount
  const reason = sums.finite === 0 ? NOTHING_FINITE : ZERO_REFERENCE
  const values = count === 0 ? null : { max: maxRelative, mean: sums.relative / count }
  return [
    make('max_rel', 'lower', values?.max ?? null, count, reason),
    make('mean_rel', 'lower', values?.mean ?? null, count, reason),
    make('median_rel', 'lower', relativeQuantiles.at(0.5), count, reason),
    make('p99_rel', 'lower', relativeQuantiles.at(0.99), count, reason),
  ]
}

function floatMetrics(statistics: PairStatistics, make: Make): Metric[] {
  const { count, sums } = statistics
  return [
    make('max_ulp', 'lower', sums.finite === 0 ? null : statistics.maxUlp, sums.finite, NOTHING_FINITE),
    make('nan_reference', 'lower', statistics.nanReference, count),
    make('nan_target', 'lower', statistics.nanTarget, count),
    make('inf_reference', 'lower', statistics.infReference, count),
    make('inf_target', 'lower', statistics.infTarget, count),
    make('nonfinite_mismatch', 'lower', statistics.nonFiniteMismatches, count),
  ]
}

function scaleBack(value: number | null, unit: number): number | null {
  return value === null ? null : value / unit
}

/** ‖t − r‖ / ‖r‖; a zero reference gives 0 where the target is zero too and infinity otherwise. */
export function relL2({ sums }: PairStatistics): number | null {
  if (sums.finite === 0) return null
  if (sums.reference > 0) return Math.sqrt(sums.difference / sums.reference)
  return sums.difference === 0 ? 0 : Number.POSITIVE_INFINITY
}

/** Rounding to the storage dtype alone may move a tensor by half a step everywhere, and so may an op's own rounding. */
export function relL2Limit({ rule, limits }: NumericPlan, statistics: PairStatistics): number | null {
  if (limits.relL2 === null || rule.kind !== 'float') return limits.relL2
  const ofOp = relativeToNorm(rule.tolerance.rounding, statistics)
  return Math.max(limits.relL2 + ofOp, roundingRelL2(statistics))
}

/** ‖half a step of the storage dtype everywhere‖ / ‖r‖; 0 if steps were not requested. */
function roundingRelL2({ sums }: PairStatistics): number {
  return sums.reference > 0 ? Math.sqrt(sums.halfUlp / sums.reference) : 0
}

/** An error of this size at every place, as a part of the reference's norm. */
function relativeToNorm(error: number, { sums, unit }: PairStatistics): number {
  return error === 0 || sums.reference === 0 ? 0 : (error * unit * Math.sqrt(sums.finite)) / Math.sqrt(sums.reference)
}

function rmse({ sums, unit }: PairStatistics): number | null {
  return sums.finite === 0 ? null : Math.sqrt(sums.difference / sums.finite) / unit
}

/** Infinity for identical tensors, −Infinity for errors on a zero reference. */
function snrDb({ sums }: PairStatistics): number | null {
  if (sums.finite === 0) return null
  return sums.difference === 0 ? Number.POSITIVE_INFINITY : 10 * Math.log10(sums.reference / sums.difference)
}

/**
 * 1 − cos from sums of differences, exact to many more digits than dot/(|r||t|) of nearly equal tensors:
 * 1 − cos = (‖d‖² − (‖t‖ − ‖r‖)²) / (2‖r‖‖t‖), with ‖t‖ − ‖r‖ = (2 d·r + ‖d‖²) / (‖t‖ + ‖r‖) and d = t − r.
 */
function cosine({ sums }: PairStatistics): number | null {
  const r = Math.sqrt(sums.reference)
  const t = Math.sqrt(sums.target)
  if (r === 0 || t === 0) return null
  // Nothing is nearly equal where t is larger: r·t = ‖r‖² + d·r.
  if (t > 2 * r) return Math.max(-1, Math.min(1, (sums.reference + sums.product) / (r * t)))
  const growth = (2 * sums.product + sums.difference) / (t + r)
  return Math.max(-1, Math.min(1, 1 - (sums.difference - growth * growth) / (2 * r * t)))
}

/** The worst value of each metric over all outputs: values over their threshold first. */
export function worstMetrics(outputs: readonly { readonly metrics: readonly Metric[] }[]): Metric[] {
  const worst = new Map<string, Metric>()
  for (const metric of outputs.flatMap((output) => output.metrics)) {
    const known = worst.get(metric.name)
    if (!known || isWorse(metric, known)) worst.set(metric.name, metric)
  }
  return [...worst.values()]
}

function isWorse(metric: Metric, known: Metric): boolean {
  if (metric.value === null || known.value === null) return known.value === null && metric.value !== null
  if (isOver(metric) !== isOver(known)) return isOver(metric)
  if (Number.isNaN(known.value)) return false
  return metric.direction === 'lower' ? !(metric.value <= known.value) : !(metric.value >= known.value)
}

function isOver({ value, threshold, direction }: Metric): boolean {
  if (value === null || threshold === undefined) return false
  return direction === 'lower' ? !(value <= threshold) : !(value >= threshold)
}
