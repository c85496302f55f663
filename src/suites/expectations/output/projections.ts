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
  readonly #bits = randomStream(SEED, 'projections').bits
  /** Sums of the values with the same eight signs: two additions for each value instead of sixteen. */
  readonly #groups = Array.from({ length: PROJECTIONS / 8 }, () => new Float64Array(256))

  add(values: Float64Array): void {
    const [low, high] = this.#groups as [Float64Array, Float64Array]
    for (const value of values) {
      // Drawn for every place, so that a value that is not finite does not move the signs of those after it.
      const signs = this.#bits()
      if (value - value !== 0) continue
      low[signs & 255]! += value
      high[(signs >>> 8) & 255]! += value
    }
  }

  sums(): number[] {
    return Array.from({ length: PROJECTIONS }, (_, k) => {
      const group = this.#groups[k >>> 3]!
      return group.reduce((sum, part, signs) => sum + ((signs >>> (k & 7)) & 1 ? part : -part), 0)
    })
  }
}

/** Estimates the norm of the difference of two outputs. */
export function estimateDistance(a: readonly number[], b: readonly number[], scale = 1): number {
  const squares = a.reduce((sum, value, k) => sum + (value - scale * b[k]!) ** 2, 0)
  return Math.sqrt(squares / a.length)
}
