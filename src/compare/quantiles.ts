const EXACT_COUNT = 4096
const BINS = 32768
const INFINITY_BIN = 0x7f80

const float = new Float32Array(1)
const bits = new Uint32Array(float.buffer)

/**
 * Quantiles of non-negative numbers by nearest rank. Exact up to 4096 numbers; beyond that from a histogram of the top
 * 15 bits of their float32 magnitude, at most 0.4 % off.
 */
export class Quantiles {
  #few = new Float64Array(16)
  #bins: Float64Array | null = null
  #count = 0
  #least = Number.POSITIVE_INFINITY
  #most = 0

  add(values: Float64Array): void {
    this.#least = Math.min(this.#least, leastOf(values))
    this.#most = Math.max(this.#most, mostOf(values))
    if (this.#bins === null && this.#count + values.length <= EXACT_COUNT) this.#keep(values)
    else countInto(this.#spill(), values)
    this.#count += values.length
  }

  /** The smallest number that a fraction q of all numbers does not exceed; null if there are none. */
  at(q: number): number | null {
    if (this.#count === 0) return null
    const rank = Math.max(1, Math.ceil(q * this.#count))
    if (this.#bins === null) return this.#few.slice(0, this.#count).sort()[rank - 1]!
    return Math.min(Math.max(middleOf(binAtRank(this.#bins, rank)), this.#least), this.#most)
  }

  #keep(values: Float64Array): void {
    if (this.#count + values.length > this.#few.length) {
      const grown = new Float64Array(EXACT_COUNT)
      grown.set(this.#few)
      this.#few = grown
    }
    this.#few.set(values, this.#count)
  }

  #spill(): Float64Array {
    if (this.#bins === null) {
      this.#bins = new Float64Array(BINS)
      countInto(this.#bins, this.#few.subarray(0, this.#count))
    }
    return this.#bins
  }
}

function leastOf(values: Float64Array): number {
  let least = Number.POSITIVE_INFINITY
  for (let i = 0; i < values.length; i++) if (values[i]! < least) least = values[i]!
  return least
}

function mostOf(values: Float64Array): number {
  let most = 0
  for (let i = 0; i < values.length; i++) if (values[i]! > most) most = values[i]!
  return most
}

function countInto(bins: Float64Array, values: Float64Array): void {
  for (let i = 0; i < values.length; i++) {
    float[0] = values[i]!
    bins[bits[0]! >>> 16]! += 1
  }
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
