const EXACT_COUNT = 4096
const INFINITY_BIN = 0x7f80

const float = new Float32Array(1)
const bits = new Uint32Array(float.buffer)

/** A summary of some non-negative numbers. */
export interface Counted {
  /** All numbers, while there are few. */
  readonly few: Float64Array | null
  /** How many, by the top 15 bits of their float32. */
  readonly bins: Float64Array
  readonly count: number
  readonly least: number
  readonly most: number
}

/** Keeps numbers as they are while they are few. */
export class FewNumbers {
  #numbers: Float64Array | null = new Float64Array(0)

  get all(): Float64Array | null {
    return this.#numbers
  }

  add(more: Float64Array): void {
    if (this.#numbers !== null && more.length > 0) this.#numbers = joined([this.#numbers, more])
  }
}

/**
 * Quantiles of non-negative numbers by nearest rank. Exact up to 4096 numbers; beyond that from a histogram of the top
 * 15 bits of their float32 magnitude, at most 0.4 % off.
 */
export class Quantiles {
  readonly #few: Float64Array | null
  readonly #bins: Float64Array
  readonly #count: number
  readonly #least: number
  readonly #most: number

  constructor(parts: readonly Counted[]) {
    const few = parts.map((part) => part.few)
    this.#few = few.every((numbers) => numbers !== null) ? (joined(few)?.sort() ?? null) : null
    this.#bins = this.#few === null ? sumParts(parts.map(({ bins }) => bins)) : new Float64Array(0)
    this.#count = parts.reduce((sum, { count }) => sum + count, 0)
    this.#least = parts.reduce((least, part) => Math.min(least, part.least), Number.POSITIVE_INFINITY)
    this.#most = parts.reduce((most, part) => Math.max(most, part.most), 0)
  }

  /** The smallest number that a fraction q of all numbers does not exceed; null if there are none. */
  at(q: number): number | null {
    if (this.#count === 0) return null
    const rank = rankOf(q, this.#count)
    if (this.#few !== null) return this.#few[rank - 1]!
    return Math.min(Math.max(middleOf(binAtRank(this.#bins, rank)), this.#least), this.#most)
  }
}

function rankOf(q: number, count: number): number {
  return Math.max(1, Math.ceil(q * count))
}

function joined(parts: readonly Float64Array[]): Float64Array<ArrayBuffer> | null {
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  if (length > EXACT_COUNT) return null
  const all = new Float64Array(length)
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}

/** Histograms add up. */
export function sumParts(parts: readonly ArrayLike<number>[]): Float64Array {
  const [first = [], ...rest] = parts
  const sum = new Float64Array(first)
  for (const part of rest) for (let bin = 0; bin < part.length; bin++) sum[bin]! += part[bin]!
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
  for (let bin = 0; bin < bins.length; bin++) {
    seen += bins[bin]!
    if (seen >= rank) return bin
  }
  return bins.length - 1
}
