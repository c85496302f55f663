import { bisect, incompleteBeta } from './incomplete-beta.ts'

export interface Interval {
  /** null: there are too few values to bound it on this side. */
  readonly low: number | null
  readonly high: number | null
  readonly confidence: number
}

/** P(X ≤ k) for X of n trials with chance p. */
export function binomialCdf(k: number, n: number, p: number): number {
  if (k < 0) return 0
  return k >= n ? 1 : incompleteBeta(1 - p, n - k, k + 1)
}

/**
 * Of the q-quantile of what sorted numbers are drawn from, whatever its shape: the order statistics whose ranks X, the
 * number of values below it, leaves with less than half of what the confidence leaves open.
 */
export function quantileInterval(numbers: Float64Array, q: number, confidence: number): Interval {
  const n = numbers.length
  const open = (1 - confidence) / 2
  const low = firstRank(n, (rank) => binomialCdf(rank, n, q) > open)
  const high = firstRank(n, (rank) => binomialCdf(rank, n, q) >= 1 - open)
  return { low: low === 0 ? null : numbers[low - 1]!, high: high < n ? numbers[high]! : null, confidence }
}

/** The first of 0…n for which a monotonic condition holds. */
function firstRank(n: number, holds: (rank: number) => boolean): number {
  let [from, to] = [0, n]
  while (from < to) {
    const middle = (from + to) >> 1
    if (holds(middle)) to = middle
    else from = middle + 1
  }
  return to
}

/** For the probability of an event that happened k times in n independent trials (Clopper and Pearson). */
export function rateInterval(k: number, n: number, confidence: number): Interval {
  const open = (1 - confidence) / 2
  const low = k === 0 ? 0 : bisect((p) => 1 - binomialCdf(k - 1, n, p), open, 0, 1)
  const high = k === n ? 1 : bisect((p) => 1 - binomialCdf(k, n, p), 1 - open, 0, 1)
  return { low, high, confidence }
}
