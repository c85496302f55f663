import { bisect, incompleteBeta } from './incomplete-beta.ts'

/** The p-quantile of Student's t distribution. */
export function studentQuantile(p: number, degrees: number): number {
  if (!(p > 0 && p < 1) || !(degrees > 0)) throw new RangeError(`no quantile ${p} of t with ${degrees} degrees`)
  if (p < 0.5) return -studentQuantile(1 - p, degrees)
  // P(|t| ≤ x) with u = x² / (degrees + x²), which stays within [0, 1] for every x.
  const within = (u: number) => incompleteBeta(u, 0.5, degrees / 2)
  const u = bisect(within, 2 * p - 1, 0, 1)
  return Math.sqrt((degrees * u) / (1 - u))
}

/** The x with P(t > x) = tail; of tails too small to be told from 0 in 1 − tail too. */
export function studentTailQuantile(tail: number, degrees: number): number {
  if (!(tail > 0 && tail < 0.5) || !(degrees > 0)) throw new RangeError(`no tail ${tail} of t with ${degrees} degrees`)
  // P(|t| > x) with v = degrees / (degrees + x²), by its logarithm.
  const beyond = (logV: number) => incompleteBeta(Math.exp(logV), degrees / 2, 0.5)
  const logV = bisect(beyond, 2 * tail, -700, 0)
  return Math.sqrt((degrees * -Math.expm1(logV)) / Math.exp(logV))
}

/** A bound each way that holds with this confidence on its own side. */
export interface MeanBounds {
  readonly mean: number
  readonly low: number
  readonly high: number
}

/** For the mean of the distribution of these numbers; needs at least two. */
export function meanBounds(values: readonly number[], confidence: number): MeanBounds {
  const n = values.length
  if (n < 2) throw new RangeError(`${n} values say nothing about their spread; two are needed`)
  const mean = values.reduce((sum, value) => sum + value, 0) / n
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (n - 1)
  const reach = studentQuantile(confidence, n - 1) * Math.sqrt(variance / n)
  return { mean, low: mean - reach, high: mean + reach }
}
