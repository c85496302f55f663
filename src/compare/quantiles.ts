const EXACT_COUNT = 4096
const BINS = 32768
const INFINITY_BIN = 0x7f80

const float = new Float32Array(1)
const bits = new Uint32Array(float.buffer)

/** Numbers counted by the top 15 bits of their float32 magnitude. */
export interface Counted {
  readonly bins: Uint32Array
  readonly count: number
  readonly least: number
  readonly most: number
}

/**
 * Quantiles of non-negative numbers by nearest rank. Exact up to 4096 numbers; beyond that from a histogram of the top
 * 15 bits of their float32 magnitude, at most 0.4 % off.
 */
export class Quantiles {
  /** All numbers, while they are few. */
  #few: Float64Array | null = new Float64Array(0)
  #bins = new Float64Array(0)
  #count = 0
  #least = Number.POSITIVE_INFINITY
  #most = 0

  /** Whether the numbers are still few, so that `keep` must get them too. */
  get isKept(): boolean {
    return this.#few !== null
  }

  keep(values: Float64Array): void {
    if (this.#few === null || values.length === 0) return
    const all = new Float64Array(Math.min(this.#few.length + values.length, EXACT_COUNT + 1))
    if (all.length > EXACT_COUNT) this.#few = null
    else {
      all.set(this.#few)
      all.set(values, this.#few.length)
      this.#few = all
    }
  }

  /** All numbers, those that were kept too, once they are counted. */
  add({ bins, count, least, most }: Counted): void {
    this.#count += count
    if (this.#few === null) this.#bins = sumOf(this.#bins, bins)
    this.#least = Math.min(this.#least, least)
    this.#most = Math.max(this.#most, most)
  }

  /** The smallest number that a fraction q of all numbers does not exceed; null if there are none. */
  at(q: number): number | null {
    if (this.#count === 0) return null
    const rank = Math.max(1, Math.ceil(q * this.#count))
    if (this.#few !== null) return this.#few.slice().sort()[rank - 1]!
    return Math.min(Math.max(middleOf(binAtRank(this.#bins, rank)), this.#least), this.#most)
  }
}

function sumOf(bins: Float64Array, more: Uint32Array): Float64Array<ArrayBuffer> {
  const sum = new Float64Array(more)
  for (let bin = 0; bin < bins.length; bin++) sum[bin]! += bins[bin]!
  return sum
}

function middleOf(bin: number): number {
  if (bin === 0) return 0
  if (bin >= INFINITY_BIN) return Number.POSITIVE_INFINITY
  bits[0] = (bin << 16) | 0x8000
  return float[0]!
}

function binAtRank(bins: Float64Array, rank: number): number {
  let seen = 0
  for (let bin = 0; bin < BINS; bin++) {
    seen += bins[bin]!
    if (seen >= rank) return bin
  }
  return BINS - 1
}
