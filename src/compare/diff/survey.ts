import type { PairKernels } from '../kernels/contract.ts'
import { BLOCK } from '../kernels/layout.ts'
import { kernelName, withKernels } from '../kernels/lend.ts'
import * as at from '../kernels/survey-layout.ts'
import { type AxisProfile, AxisProfiles, joinProfiles } from './axis-profiles.ts'
import type { OpenPair } from './element-reader.ts'
import { type CountedErrors, ErrorCounter, type ErrorHistogram, listErrors } from './error-histogram.ts'
import { type MomentSums, momentFacts, type SideFacts, SideMoments } from './side-moments.ts'

/** The sums of a block and where the kernels store them. */
const PLACES = {
  r: at.SUM_R,
  d: at.SUM_D,
  rr: at.SUM_RR,
  dd: at.SUM_DD,
  dr: at.SUM_DR,
  neighbours: at.SUM_NEIGHBOURS,
} as const
const SUMS = ['r', 'd', 'rr', 'dd', 'dr', 'neighbours'] as const

/** Sums over the places that are finite on both sides; d = t − r. */
interface PairSums {
  readonly finite: number
  readonly r: number
  readonly d: number
  readonly rr: number
  readonly dd: number
  readonly dr: number
  /** The sum of each error times the next one in memory. */
  readonly neighbours: number
}

/** Places that are NaN or infinite and not the same on both sides. */
interface NonFinitePlaces {
  readonly count: number
  /** The flat place of the first one. */
  readonly first: number | null
  /** Places where only the target is NaN, or infinite. */
  readonly nanInTarget: number
  readonly infiniteInTarget: number
  /** Places where both are infinite with opposite signs, or one is NaN and the other infinite. */
  readonly signsDiffer: number
  readonly kindsDiffer: number
  /** The smallest |reference| that became infinite, and the largest finite |target|. */
  readonly leastInfinite: number | null
  readonly mostFinite: number
  /** Counts by index of every axis. */
  readonly axes: readonly AxisProfile[]
}

/** Everything found in one ordered pass over two tensors of equal size. */
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

export async function surveyPair(pair: OpenPair): Promise<Survey> {
  return joinSurveys([await surveyStretch(pair, 0, pair.count)])
}

/** Elements from `from` up to `to`. */
export function surveyStretch(pair: OpenPair, from: number, to: number): Promise<SurveyPart> {
  return withKernels(kernelName(), async (kernels) => {
    const surveyor = new Surveyor(pair.shape, kernels)
    for (let first = from; first < to; first += BLOCK) {
      const length = Math.min(BLOCK, to - first)
      pair.reference.read(first, length, kernels.reference)
      pair.target.read(first, length, kernels.target)
      surveyor.add(first, length)
    }
    return surveyor.part()
  })
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

const ODD = ['count', 'nanInTarget', 'infiniteInTarget', 'signsDiffer', 'kindsDiffer'] as const

function joinNonFinite(all: readonly SurveyPart['nonFinite'][]): SurveyPart['nonFinite'] {
  const sum = (name: (typeof ODD)[number]) => all.reduce((total, part) => total + part[name], 0)
  const least = all.flatMap(({ leastInfinite }) => leastInfinite ?? [])
  return {
    count: sum('count'),
    nanInTarget: sum('nanInTarget'),
    infiniteInTarget: sum('infiniteInTarget'),
    signsDiffer: sum('signsDiffer'),
    kindsDiffer: sum('kindsDiffer'),
    first: all.find(({ first }) => first !== null)?.first ?? null,
    leastInfinite: least.length > 0 ? Math.min(...least) : null,
    axes: joinProfiles(all.map(({ axes }) => axes)),
  }
}

class Surveyor {
  readonly #kernels: PairKernels
  readonly #reference = new SideMoments()
  readonly #target = new SideMoments()
  readonly #errors = new ErrorCounter(BLOCK)
  readonly #axes: AxisProfiles
  readonly #nonFiniteAxes: AxisProfiles
  readonly #sums = { finite: 0, r: 0, d: 0, rr: 0, dd: 0, dr: 0, neighbours: 0 }
  readonly #odd = { count: 0, nanInTarget: 0, infiniteInTarget: 0, signsDiffer: 0, kindsDiffer: 0 }
  #firstOdd: number | null = null
  #leastInfinite: number | null = null
  #others = 0
  #last = 0

  constructor(shape: readonly number[], kernels: PairKernels) {
    this.#kernels = kernels
    this.#axes = new AxisProfiles(shape)
    this.#nonFiniteAxes = new AxisProfiles(shape)
  }

  /** One block in the kernels' memory, with zeros where a side is not finite. */
  add(first: number, length: number): void {
    const kernels = this.#kernels
    const { results, difference, squares } = kernels
    kernels.survey(length, this.#last)
    if (Number.isFinite(results[at.SUM_DD]! + results[at.SUM_RR]!)) {
      this.#reference.join(length, momentsAt(results, at.MOMENTS_REFERENCE))
      this.#target.join(length, momentsAt(results, at.MOMENTS_TARGET))
    } else {
      this.#addOdd(first, kernels.reference.subarray(0, length), kernels.target.subarray(0, length))
      kernels.survey(length, this.#last)
    }
    for (const name of SUMS) this.#sums[name] += results[PLACES[name]]!
    this.#sums.finite += length
    this.#last = difference[length - 1]!
    this.#errors.add(difference.subarray(0, length))
    this.#axes.add(first, squares.subarray(0, length))
  }

  #addOdd(first: number, r: Float64Array, t: Float64Array): void {
    this.#reference.add(r)
    this.#target.add(t)
    this.#sortOut(first, r, t)
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
    if (!Number.isFinite(r)) {
      if (r === -t) this.#odd.signsDiffer++
      else if (!Number.isFinite(t)) this.#odd.kindsDiffer++
    } else if (Number.isNaN(t)) this.#odd.nanInTarget++
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

function momentsAt(results: Float64Array, place: number): readonly [number, number, number, number] {
  return [results[place]!, results[place + 1]!, results[place + 2]!, results[place + 3]!]
}
