import type { WorstPlace } from '../../domain/result.ts'

const KEPT = 10
/** More than the roundings of error / limit and of severity · limit. */
const SLACK = 1e-15

export interface RankedPlace {
  readonly severity: number
  readonly error: number
  readonly allowed: number
  readonly element: number
  texts: readonly [string, string] | null
}

/**
 * What a place has to reach to be kept: an error above `floor`, and one above `high` times its limit or, above `tie`,
 * at least `low` times. A little too low rather than too high.
 */
export interface Bar {
  readonly floor: number
  readonly high: number
  readonly low: number
  readonly tie: number
}

const NO_BAR: Bar = { floor: 0, high: 0, low: 0, tie: 0 }

/** The places of one tensor that are furthest over their limit; among equals the largest errors, then the first ones. */
export class WorstPlaces {
  readonly #places: RankedPlace[] = []

  /** Cheaper to ask than `wants`. */
  bar = NO_BAR

  /** True if a place would be kept; without an element it counts as later than all. */
  wants(error: number, allowed: number, element = Number.POSITIVE_INFINITY): boolean {
    if (this.#places.length < KEPT) return true
    return isBefore({ severity: severityOf(error, allowed), error, element }, this.#places[KEPT - 1]!)
  }

  add(element: number, error: number, allowed: number): void {
    this.#insert({ severity: severityOf(error, allowed), error, allowed, element, texts: null })
  }

  /** Merges the places of another part of the same tensor. */
  merge(places: readonly RankedPlace[]): void {
    for (const place of places) this.#insert(place)
  }

  get places(): readonly RankedPlace[] {
    return this.#places
  }

  #insert(place: RankedPlace): void {
    let at = this.#places.length
    while (at > 0 && isBefore(place, this.#places[at - 1]!)) at--
    this.#places.splice(at, 0, place)
    if (this.#places.length > KEPT) this.#places.pop()
    if (this.#places.length === KEPT) this.bar = barOf(this.#places[KEPT - 1]!)
  }

  /** Formats the places added since the last call, while their elements are still in memory. */
  describe(textsOf: (element: number) => readonly [string, string]): void {
    for (const place of this.#places) place.texts ??= textsOf(place.element)
  }

  list(tensor: string, shape: readonly number[]): WorstPlace[] {
    return this.#places.map(({ element, error, allowed, texts }) => {
      if (texts === null) throw new Error(`place ${element} of "${tensor}" was not described: this is a bug in Assay`)
      return { tensor, index: unravelIndex(element, shape), reference: texts[0], target: texts[1], error, allowed }
    })
  }
}

/** The worst places of several tensors together. */
export function pickWorst(places: readonly WorstPlace[]): WorstPlace[] {
  const ranked = places.map((place, element) => {
    return { place, element, error: place.error, severity: severityOf(place.error, place.allowed) }
  })
  ranked.sort((a, b) => (isBefore(a, b) ? -1 : 1))
  return ranked.slice(0, KEPT).map(({ place }) => place)
}

/** Among infinite severities the error itself decides, and among infinite errors the place. */
function barOf({ severity, error }: RankedPlace): Bar {
  if (Number.isFinite(severity))
    return { floor: 0, high: severity * (1 + SLACK), low: severity * (1 - SLACK), tie: error }
  return { floor: Math.min(rankOf(error), Number.MAX_VALUE), high: 0, low: 0, tie: Number.POSITIVE_INFINITY }
}

/** The error in multiples of the limit; NaN is the worst. */
function severityOf(error: number, allowed: number): number {
  if (Number.isNaN(error)) return Number.POSITIVE_INFINITY
  return error === 0 ? 0 : error / allowed
}

type Rank = Pick<RankedPlace, 'severity' | 'error' | 'element'>

function isBefore(a: Rank, b: Rank): boolean {
  if (a.severity !== b.severity) return a.severity > b.severity
  if (rankOf(a.error) !== rankOf(b.error)) return rankOf(a.error) > rankOf(b.error)
  return a.element < b.element
}

function rankOf(error: number): number {
  return Number.isNaN(error) ? Number.POSITIVE_INFINITY : error
}

/** Index along every axis of a flat place. */
export function unravelIndex(element: number, shape: readonly number[]): number[] {
  const index: number[] = []
  let rest = element
  for (const dim of shape.toReversed()) {
    index.unshift(rest % dim)
    rest = Math.floor(rest / dim)
  }
  return index
}
