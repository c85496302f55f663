import type { PairLimits } from '../pairs/pair-statistics.ts'
import { allowance, finiteSeverity, hasSteps, measureSeverity, type NumberPairs } from './classify.ts'

/** Errors from 2^exponent to twice that: how many are within their limit and how many over. */
export interface ExponentBin {
  readonly exponent: number
  readonly within: number
  readonly over: number
}

/** What is in a slice. */
export interface Tally {
  /** Counts of elements that are equal, within, over, and non-finite and different. */
  readonly counts: readonly [number, number, number, number]
  /** Ascending, of finite errors that are not zero; the first exponent takes all that are smaller, too. */
  readonly bins: readonly ExponentBin[]
  /** The largest finite magnitude of the reference. */
  readonly maxReference: number
  readonly maxError: number
}

/** Exponents as float64 has them: 11 bits, and all that is smaller than normal numbers in the first. */
const EXPONENTS = 2048
const BIAS = 1023

/** Judges and counts slices that come in pieces. */
export class Tallier {
  readonly #limits: PairLimits
  readonly #within = new Float64Array(EXPONENTS)
  readonly #over = new Float64Array(EXPONENTS)
  #count = 0
  #nonFinite = 0
  #infinite = 0
  #maxReference = 0
  #maxError = 0

  constructor(limits: PairLimits) {
    this.#limits = limits
  }

  /** Counts pairs and gives the severity of each, in `out` if that is given. */
  add(pairs: NumberPairs, out: Float64Array = new Float64Array(pairs.difference.length)): Float64Array {
    const { reference, target, difference } = pairs
    const { rtol, constant } = this.#limits
    const stepped = hasSteps(this.#limits) ? allowance(this.#limits) : null
    const [within, over] = [this.#within, this.#over]
    // The high halves, which hold the exponents.
    const words = new Uint32Array(difference.buffer, difference.byteOffset, difference.length * 2)
    let [maxReference, maxError] = [this.#maxReference, this.#maxError]
    for (let i = 0; i < difference.length; i++) {
      const magnitude = Math.abs(reference[i]!)
      if (magnitude > maxReference && magnitude < Infinity) maxReference = magnitude
      const error = Math.abs(difference[i]!)
      if (error === 0) {
        out[i] = 0
      } else if (error < Infinity) {
        if (error > maxError) maxError = error
        const severity = finiteSeverity(error, stepped ? stepped(reference[i]!) : rtol * magnitude + constant)
        out[i] = severity
        if (severity <= 1) within[(words[2 * i + 1]! >>> 20) & 0x7ff]!++
        else over[(words[2 * i + 1]! >>> 20) & 0x7ff]!++
      } else {
        out[i] = this.#addNonFinite(reference[i]!, target[i]!, difference[i]!)
      }
    }
    this.#maxReference = maxReference
    this.#maxError = maxError
    this.#count += difference.length
    return out
  }

  /** NaN, infinities, and errors that are larger than any number. */
  #addNonFinite(r: number, t: number, difference: number): number {
    const severity = measureSeverity(r, t, difference, 0)
    if (Number.isNaN(severity)) this.#nonFinite++
    else if (severity > 0) this.#infinite++
    return severity
  }

  result(): Tally {
    const within = sum(this.#within)
    const over = sum(this.#over) + this.#infinite
    const bins = Array.from(this.#within, (count, i) => ({ exponent: i - BIAS, within: count, over: this.#over[i]! }))
    return {
      counts: [this.#count - within - over - this.#nonFinite, within, over, this.#nonFinite],
      bins: bins.filter((bin) => bin.within + bin.over > 0),
      maxReference: this.#maxReference,
      maxError: this.#maxError,
    }
  }
}

function sum(counts: Float64Array): number {
  return counts.reduce((total, count) => total + count, 0)
}

export interface Range {
  readonly least: number
  readonly most: number
}

/** The least and the largest finite number of several lists; null where there is none. */
export function finiteRange(lists: readonly Float64Array[]): Range | null {
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const numbers of lists) {
    for (let i = 0; i < numbers.length; i++) {
      const value = numbers[i]!
      if (value < least && value !== Number.NEGATIVE_INFINITY) least = value
      if (value > most && value !== Number.POSITIVE_INFINITY) most = value
    }
  }
  return least <= most ? { least, most } : null
}
