const EXACT_COUNT = 4096
const BINS = 32768

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

  add(value: number): void {
    if (value < this.#least) this.#least = value
    if (value > this.#most) this.#most = value
    if (this.#bins === null && this.#count === EXACT_COUNT) this.#spill()
    if (this.#bins === null) this.#keep(value)
    else this.#bins[binOf(value)]! += 1
    this.#count++
  }

  /** The smallest number that a fraction q of all numbers does not exceed; null if there are none. */
  at(q: number): number | null {
    if (this.#count === 0) return null
    const rank = Math.max(1, Math.ceil(q * this.#count))
    if (this.#bins === null) return this.#few.slice(0, this.#count).sort()[rank - 1]!
    return Math.min(Math.max(middleOf(binAtRank(this.#bins, rank)), this.#least), this.#most)
  }

  #keep(value: number): void {
    if (this.#count === this.#few.length) {
      const grown = new Float64Array(this.#few.length * 4)
      grown.set(this.#few)
      this.#few = grown
    }
    this.#few[this.#count] = value
  }

  #spill(): void {
    this.#bins = new Float64Array(BINS)
    for (const value of this.#few.subarray(0, this.#count)) this.#bins[binOf(value)]! += 1
  }
}

function binOf(value: number): number {
  float[0] = value
  return bits[0]! >>> 16
}

function middleOf(bin: number): number {
  bits[0] = bin === 0 ? 0 : (bin << 16) | 0x8000
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
