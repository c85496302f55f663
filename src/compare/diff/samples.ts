import type { ElementReader, OpenPair } from './element-reader.ts'

const SAMPLED = 2048
/** Up to this many elements, all are taken. */
const ALL = 4096

/** Values of both sides at the same flat places. */
export interface Samples {
  readonly places: readonly number[]
  readonly reference: Float64Array
  readonly target: Float64Array
  /** There are no other elements. */
  readonly areAll: boolean
}

/** A fixed sample of places of a pair, plus places known to matter. */
export function samplePair(pair: OpenPair, known: readonly number[]): Samples {
  const areAll = pair.count <= ALL
  const places = areAll ? Array.from({ length: pair.count }, (_, i) => i) : [...known, ...scattered(pair.count)]
  const reference = valuesAt(pair.reference, places)
  return { places, reference, target: valuesAt(pair.target, places), areAll }
}

export function valuesAt(reader: ElementReader, places: readonly number[]): Float64Array {
  const values = new Float64Array(places.length)
  const one = new Float64Array(1)
  for (let i = 0; i < places.length; i++) {
    reader.read(places[i]!, 1, one)
    values[i] = one[0]!
  }
  return values
}

/** One place from every stretch, so that all stretches are covered. */
function scattered(count: number): number[] {
  const random = randomFractions(count)
  return Array.from({ length: SAMPLED }, (_, i) => Math.min(count - 1, Math.floor(((i + random()) * count) / SAMPLED)))
}

/** Numbers in [0, 1), the same for the same seed (mulberry32). */
export function randomFractions(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Σ(t − r)² over the finite pairs; NaN if there are none. */
export function squaredDistance(target: ArrayLike<number>, reference: ArrayLike<number>): number {
  let [sum, finite] = [0, 0]
  for (let i = 0; i < target.length; i++) {
    const difference = target[i]! - reference[i]!
    if (difference - difference !== 0) continue
    sum += difference * difference
    finite++
  }
  return finite === 0 ? Number.NaN : sum
}

/** Σ(x − mean)² of the finite numbers. */
export function squaredSpread(numbers: Float64Array): number {
  const finite = numbers.filter(Number.isFinite)
  const mean = finite.reduce((sum, value) => sum + value, 0) / Math.max(1, finite.length)
  return finite.reduce((sum, value) => sum + (value - mean) ** 2, 0)
}
