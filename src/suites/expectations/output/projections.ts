import { randomStream } from '../../../models/random.ts'

const PROJECTIONS = 16
/** Part of the format: another seed would make every snapshot worthless. */
const SEED = 42

/**
 * Sums of all values, each with a sign of its own that is the same in every run. The difference of two outputs has the
 * same sums, and their mean square is, on average over signs, the square of its norm: so two outputs are compared of which
 * one is gone.
 */
export class Projections {
  readonly #sums = new Float64Array(PROJECTIONS)
  readonly #bits = randomStream(SEED, 'projections').bits

  add(values: Float64Array): void {
    const sums = this.#sums
    for (const value of values) {
      // Drawn for every place, so that a value that is not finite does not move the signs of those after it.
      const signs = this.#bits()
      if (value - value !== 0) continue
      for (let k = 0; k < PROJECTIONS; k++) sums[k]! += (signs >>> k) & 1 ? value : -value
    }
  }

  sums(): number[] {
    return [...this.#sums]
  }
}

/** Estimates the norm of the difference of two outputs. */
export function estimateDistance(a: readonly number[], b: readonly number[], scale = 1): number {
  const squares = a.reduce((sum, value, k) => sum + (value - scale * b[k]!) ** 2, 0)
  return Math.sqrt(squares / a.length)
}
