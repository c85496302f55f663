import { type AxisProfile, AxisProfiles } from './axis-profiles.ts'
import type { OpenPair } from './element-reader.ts'
import { ErrorCounter, type ErrorHistogram } from './error-histogram.ts'
import { type SideFacts, SideMoments } from './side-moments.ts'

const BLOCK = 4096

/** Sums over the places that are finite on both sides; d = t − r. */
export interface PairSums {
  readonly finite: number
  readonly r: number
  readonly d: number
  readonly rr: number
  readonly dd: number
  readonly dr: number
  /** Of every error times the next one in memory. */
  readonly neighbours: number
}

/** Places that are NaN or infinite and not the same on both sides. */
export interface NonFinitePlaces {
  readonly count: number
  /** The first one, as a flat place. */
  readonly first: number | null
  /** Where only the target is NaN, or infinite. */
  readonly nanInTarget: number
  readonly infiniteInTarget: number
  /** The smallest |reference| that became infinite, and the largest finite |target|. */
  readonly leastInfinite: number | null
  readonly mostFinite: number
  /** How many by index of every axis. */
  readonly axes: readonly AxisProfile[]
}

/** Everything that one pass in order finds out about two tensors of the same size. */
export interface Survey {
  readonly reference: SideFacts
  readonly target: SideFacts
  readonly sums: PairSums
  readonly nonFinite: NonFinitePlaces
  readonly histogram: ErrorHistogram
  /** Sums of d² by index of every axis. */
  readonly axes: readonly AxisProfile[]
}

export function surveyPair(pair: OpenPair): Survey {
  const surveyor = new Surveyor(pair.shape)
  const [r, t] = [new Float64Array(BLOCK), new Float64Array(BLOCK)]
  for (let first = 0; first < pair.count; first += BLOCK) {
    const length = Math.min(BLOCK, pair.count - first)
    pair.reference.read(first, length, r)
    pair.target.read(first, length, t)
    surveyor.add(first, r.subarray(0, length), t.subarray(0, length))
  }
  return surveyor.survey()
}

class Surveyor {
  readonly #reference = new SideMoments()
  readonly #target = new SideMoments()
  readonly #errors = new ErrorCounter(BLOCK)
  readonly #difference = new Float64Array(BLOCK)
  readonly #axes: AxisProfiles
  readonly #nonFiniteAxes: AxisProfiles
  readonly #sums = { finite: 0, r: 0, d: 0, rr: 0, dd: 0, dr: 0, neighbours: 0 }
  readonly #odd = { count: 0, nanInTarget: 0, infiniteInTarget: 0 }
  #firstOdd: number | null = null
  #leastInfinite: number | null = null
  #others = 0
  #last = 0

  constructor(shape: readonly number[]) {
    this.#axes = new AxisProfiles(shape)
    this.#nonFiniteAxes = new AxisProfiles(shape)
  }

  /** One block; places that are not finite on both sides are made zero in it. */
  add(first: number, r: Float64Array, t: Float64Array): void {
    const d = this.#difference.subarray(0, r.length)
    this.#reference.add(r)
    this.#target.add(t)
    let check = 0
    for (let i = 0; i < d.length; i++) {
      const difference = t[i]! - r[i]!
      d[i] = difference
      check += difference - difference
    }
    if (check !== 0) this.#sortOut(first, r, t, d)
    this.#sums.finite += r.length
    this.#errors.add(d)
    this.#addUp(r, d)
    // From here on `d` holds squares.
    this.#axes.add(first, d)
  }

  #addUp(r: Float64Array, d: Float64Array): void {
    let [sumR, sumD, rr, dd, dr, neighbours, last] = [0, 0, 0, 0, 0, 0, this.#last]
    for (let i = 0; i < d.length; i++) {
      const value = r[i]!
      const difference = d[i]!
      const square = difference * difference
      sumR += value
      sumD += difference
      rr += value * value
      dd += square
      dr += difference * value
      neighbours += difference * last
      last = difference
      d[i] = square
    }
    const sums = this.#sums
    sums.r += sumR
    sums.d += sumD
    sums.rr += rr
    sums.dd += dd
    sums.dr += dr
    sums.neighbours += neighbours
    this.#last = last
  }

  #sortOut(first: number, r: Float64Array, t: Float64Array, d: Float64Array): void {
    const mismatches = new Float64Array(r.length)
    for (let i = 0; i < r.length; i++) {
      const value = r[i]!
      const other = t[i]!
      if (Number.isFinite(value) && Number.isFinite(other)) continue
      if (!Object.is(value, other)) {
        mismatches[i] = 1
        this.#countOdd(first + i, value, other)
      }
      this.#sums.finite--
      this.#others++
      r[i] = 0
      t[i] = 0
      d[i] = 0
    }
    this.#nonFiniteAxes.add(first, mismatches)
  }

  #countOdd(place: number, r: number, t: number): void {
    this.#odd.count++
    this.#firstOdd ??= place
    if (!Number.isFinite(r)) return
    if (Number.isNaN(t)) this.#odd.nanInTarget++
    else {
      this.#odd.infiniteInTarget++
      this.#leastInfinite = Math.min(this.#leastInfinite ?? Number.POSITIVE_INFINITY, Math.abs(r))
    }
  }

  survey(): Survey {
    const [reference, target] = [this.#reference.facts(), this.#target.facts()]
    const mostFinite = Math.max(Math.abs(target.min ?? 0), Math.abs(target.max ?? 0))
    return {
      reference,
      target,
      sums: this.#sums,
      nonFinite: {
        ...this.#odd,
        first: this.#firstOdd,
        leastInfinite: this.#leastInfinite,
        mostFinite,
        axes: this.#odd.count > 0 ? this.#nonFiniteAxes.list() : [],
      },
      histogram: this.#errors.list(this.#others),
      axes: this.#axes.list(),
    }
  }
}
