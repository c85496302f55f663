import type { WorstPlace } from '../domain/result.ts'

const KEPT = 10

interface Place {
  readonly severity: number
  readonly error: number
  readonly allowed: number
  readonly element: number
  texts: readonly [string, string] | null
}

/** The places of one tensor that are furthest over their limit, first ones first among equals. */
export class WorstPlaces {
  readonly #places: Place[] = []

  /** Places of up to this many times their limit would not be kept; cheaper to ask than `wants`. */
  bar = 0

  /** True if a place of this error would be kept. */
  wants(error: number, allowed: number): boolean {
    if (this.#places.length < KEPT) return true
    const last = this.#places[KEPT - 1]!
    return isWorse(severityOf(error, allowed), error, last.severity, last.error)
  }

  add(element: number, error: number, allowed: number): void {
    const severity = severityOf(error, allowed)
    let at = this.#places.length
    while (at > 0 && isWorse(severity, error, this.#places[at - 1]!.severity, this.#places[at - 1]!.error)) at--
    this.#places.splice(at, 0, { severity, error, allowed, element, texts: null })
    if (this.#places.length > KEPT) this.#places.pop()
    const least = this.#places.length === KEPT ? this.#places[KEPT - 1]!.severity : 0
    // Among infinite severities the error itself decides.
    this.bar = Number.isFinite(least) ? least : 0
  }

  /** Gives the places that are new since the last call their texts, while the elements are still at hand. */
  describe(textsOf: (element: number) => readonly [string, string]): void {
    for (const place of this.#places) place.texts ??= textsOf(place.element)
  }

  list(tensor: string, shape: readonly number[]): WorstPlace[] {
    return this.#places.map(({ element, error, allowed, texts }) => {
      if (texts === null) throw new Error(`place ${element} of "${tensor}" was not described: this is a bug in Assay`)
      return { tensor, index: indexOf(element, shape), reference: texts[0], target: texts[1], error, allowed }
    })
  }
}

/** The worst places of several tensors together. */
export function worstOf(places: readonly WorstPlace[]): WorstPlace[] {
  const ranked = places.map((place) => ({ place, severity: severityOf(place.error, place.allowed) }))
  ranked.sort((a, b) => {
    if (isWorse(a.severity, a.place.error, b.severity, b.place.error)) return -1
    return isWorse(b.severity, b.place.error, a.severity, a.place.error) ? 1 : 0
  })
  return ranked.slice(0, KEPT).map(({ place }) => place)
}

/** How many times the limit; NaN, which meets no limit, is the worst. */
function severityOf(error: number, allowed: number): number {
  if (Number.isNaN(error)) return Number.POSITIVE_INFINITY
  return error === 0 ? 0 : error / allowed
}

function isWorse(severity: number, error: number, otherSeverity: number, otherError: number): boolean {
  if (severity !== otherSeverity) return severity > otherSeverity
  return rankOf(error) > rankOf(otherError)
}

function rankOf(error: number): number {
  return Number.isNaN(error) ? Number.POSITIVE_INFINITY : error
}

function indexOf(element: number, shape: readonly number[]): number[] {
  const index: number[] = []
  let rest = element
  for (const dim of shape.toReversed()) {
    index.unshift(rest % dim)
    rest = Math.floor(rest / dim)
  }
  return index
}
