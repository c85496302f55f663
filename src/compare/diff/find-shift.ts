import type { OpenPair } from './element-reader.ts'
import { EXPLAINED } from './finding.ts'
import { squaredDistance, squaredSpread } from './samples.ts'

const WINDOW = 64
const FURTHEST = 4096
const FEWEST = 2 * WINDOW

/** By how many places the target seems to be shifted in memory; null: it does not seem shifted. */
export function findShift(pair: OpenPair): number | null {
  if (pair.count < FEWEST) return null
  const start = Math.floor((pair.count - WINDOW) / 2)
  const first = Math.max(0, start - FURTHEST)
  const last = Math.min(pair.count, start + FURTHEST + WINDOW)
  const [window, around] = [new Float64Array(WINDOW), new Float64Array(last - first)]
  pair.reference.read(start, WINDOW, window)
  pair.target.read(first, around.length, around)
  let best = { by: 0, distance: squaredDistance(around.subarray(start - first, start - first + WINDOW), window) }
  const limit = EXPLAINED ** 2 * Math.min(best.distance, squaredSpread(window))
  for (let at = 0; at + WINDOW <= around.length; at++) {
    const distance = squaredDistance(around.subarray(at, at + WINDOW), window)
    if (distance < best.distance) best = { by: first + at - start, distance }
  }
  return best.by !== 0 && best.distance < limit ? best.by : null
}
