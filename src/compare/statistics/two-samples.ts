import { studentQuantile } from './student-t.ts'

export interface SampleSummary {
  readonly count: number
  readonly mean: number
  /** The deviation with n − 1; 0 for a single number. */
  readonly deviation: number
}

/** Equal numbers have exactly their own mean and the deviation 0. */
export function summariseSample(values: readonly number[]): SampleSummary {
  const count = values.length
  if (count === 0) throw new RangeError('there is no mean of no numbers')
  const first = values[0]!
  const mean = first + values.reduce((sum, value) => sum + (value - first), 0) / count
  const rms = rootMeanSquare(values.map((value) => value - mean))
  return { count, mean, deviation: count === 1 ? 0 : rms * Math.sqrt(count / (count - 1)) }
}

/** Scaled, so that squares neither overflow nor vanish. */
export function rootMeanSquare(values: readonly number[]): number {
  const scale = values.reduce((largest, value) => Math.max(largest, Math.abs(value)), 0)
  if (scale === 0) return 0
  return scale * Math.sqrt(values.reduce((sum, value) => sum + (value / scale) ** 2, 0) / values.length)
}

export interface MeansCompared {
  readonly t: number
  readonly degrees: number
  /** Standard error of the distance of the means. */
  readonly error: number
}

/** Student's two-sample t with equal variances: how far the target's mean is above the reference's. */
export function compareMeans(reference: SampleSummary, target: SampleSummary): MeansCompared {
  const degrees = reference.count + target.count - 2
  if (degrees < 1) throw new RangeError('two single numbers say nothing about their spread')
  const [r, t] = [reference, target].map(({ count, deviation }) => Math.sqrt((count - 1) / degrees) * deviation)
  const error = meanError(Math.hypot(r!, t!), reference.count, target.count)
  const distance = target.mean - reference.mean
  return { t: distance === 0 ? 0 : distance / error, degrees, error }
}

/** The standard error of the distance between the means of n1 and n2 numbers with this deviation. */
function meanError(deviation: number, n1: number, n2: number): number {
  return deviation * Math.sqrt(1 / n1 + 1 / n2)
}

/**
 * The least mean of n2 runs that n1 reference runs of this mean and deviation explain: the rule of MLPerf's reference
 * convergence points, which says that a run may not converge faster.
 */
export function leastMean(mean: number, deviation: number, n1: number, n2: number, confidence = 0.95): number {
  return mean - studentQuantile(confidence, n1 + n2 - 2) * meanError(deviation, n1, n2)
}
