import { type AxisProfile, AxisProfiles, joinProfiles } from './axis-profiles.ts'
import type { OpenPair } from './element-reader.ts'
import { type CountedErrors, ErrorCounter, type ErrorHistogram, listErrors } from './error-histogram.ts'
import { type MomentSums, momentFacts, type SideFacts, SideMoments } from './side-moments.ts'

const BLOCK = 4096
const SUMS = ['r', 'd', 'rr', 'dd', 'dr', 'neighbours'] as const

/** Sums over the places that are finite on both sides; d = t − r. */
interface PairSums {
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
interface NonFinitePlaces {
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

/** What one thread found in its stretch of both tensors. */
export interface SurveyPart {
  readonly reference: MomentSums
  readonly target: MomentSums
  readonly sums: PairSums
  readonly errors: CountedErrors
  readonly axes: readonly AxisProfile[]
  readonly nonFinite: Omit<NonFinitePlaces, 'mostFinite'>
  /** Places that are not finite on a side. */
  readonly others: number
}

export function surveyPair(pair: OpenPair): Survey {
  return joinSurveys([surveyStretch(pair, 0, pair.count)])
}

/** Elements from `from` up to `to`. */
export function surveyStretch(pair: OpenPair, from: number, to: number): SurveyPart {
  const surveyor = new Surveyor(pair.shape)
  const [r, t] = [new Float64Array(BLOCK), new Float64Array(BLOCK)]
  for (let first = from; first < to; first += BLOCK) {
    const length = Math.min(BLOCK, to - first)
    pair.reference.read(first, length, r)
    pair.target.read(first, length, t)
    surveyor.add(first, r.subarray(0, length), t.subarray(0, length))
  }
  return surveyor.part()
}

/** Parts of one pair, in their order. */
export function joinSurveys(parts: readonly SurveyPart[]): Survey {
  const target = momentFacts(parts.map((part) => part.target))
  const others = parts.reduce((sum, part) => sum + part.others, 0)
  return {
    reference: momentFacts(parts.map((part) => part.reference)),
    target,
    sums: added(parts.map(({ sums }) => sums)),
    nonFinite: {
      ...joinNonFinite(parts.map(({ nonFinite }) => nonFinite)),
      mostFinite: Math.max(Math.abs(target.min ?? 0), Math.abs(target.max ?? 0)),
    },
    histogram: listErrors(
      parts.map(({ errors }) => errors),
      others,
    ),
    axes: joinProfiles(parts.map(({ axes }) => axes)),
  }
}

function added(all: readonly PairSums[]): PairSums {
  const sum = (name: keyof PairSums) => all.reduce((total, sums) => total + sums[name], 0)
  const names = ['finite', ...SUMS] as const
  return Object.fromEntries(names.map((name) => [name, sum(name)])) as Record<keyof PairSums, number>
}

function joinNonFinite(all: readonly SurveyPart['nonFinite'][]): SurveyPart['nonFinite'] {
  const sum = (name: 'count' | 'nanInTarget' | 'infiniteInTarget') => all.reduce((total, part) => total + part[name], 0)
  const least = all.flatMap(({ leastInfinite }) => leastInfinite ?? [])
  return {
    count: sum('count'),
    nanInTarget: sum('nanInTarget'),
    infiniteInTarget: sum('infiniteInTarget'),
    first: all.find(({ first }) => first !== null)?.first ?? null,
    leastInfinite: least.length > 0 ? Math.min(...least) : null,
    axes: joinProfiles(all.map(({ axes }) => axes)),
  }
}

class Surveyor {
  readonly #reference = new SideMoments()
  readonly #target = new SideMoments()
  readonly #errors = new ErrorCounter(BLOCK)
  readonly #difference = new Float64Array(BLOCK)
  readonly #squares = new Float64Array(BLOCK)
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
    this.#reference.add(r)
    this.#target.add(t)
    let sums = this.#addUp(r, t)
    if (!Number.isFinite(sums.dd + sums.rr)) {
      this.#sortOut(first, r, t)
      sums = this.#addUp(r, t)
    }
    for (const name of SUMS) this.#sums[name] += sums[name]
    this.#sums.finite += r.length
    this.#last = this.#difference[r.length - 1]!
    this.#errors.add(this.#difference.subarray(0, r.length))
    this.#axes.add(first, this.#squares.subarray(0, r.length))
  }

  /** Sums of a block; leaves its differences and their squares. */
  #addUp(r: Float64Array, t: Float64Array): Record<(typeof SUMS)[number], number> {
    const differences = this.#difference
    const squares = this.#squares
    const found = { r: 0, d: 0, rr: 0, dd: 0, dr: 0, neighbours: 0 }
    let last = this.#last
    for (let i = 0; i < r.length; i++) {
      const value = r[i]!
      const difference = t[i]! - value
      const square = difference * difference
      differences[i] = difference
      squares[i] = square
      found.r += value
      found.d += difference
      found.rr += value * value
      found.dd += square
      found.dr += difference * value
      found.neighbours += difference * last
      last = difference
    }
    return found
  }

  #sortOut(first: number, r: Float64Array, t: Float64Array): void {
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

  part(): SurveyPart {
    return {
      reference: this.#reference.sums,
      target: this.#target.sums,
      sums: this.#sums,
      errors: this.#errors.counted,
      axes: this.#axes.list(),
      nonFinite: {
        ...this.#odd,
        first: this.#firstOdd,
        leastInfinite: this.#leastInfinite,
        axes: this.#nonFiniteAxes.list(),
      },
      others: this.#others,
    }
  }
}
