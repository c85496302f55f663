import {
  ARG_MAX_REFERENCE, ARG_MAX_TARGET, FLAGGED, HEAVY_COUNT, HEAVY_LEAST, HEAVY_RUNS, MOST_HEAVY, ROW_RUN,
} from '../logits-layout'
import { largestOf } from './lanes'
import { put, REFERENCE, RUN_BYTES, runsOf, targetOf } from './row-places'

/** What is further below the largest logit has less than 5e-5 of its weight. */
const HEAVY: f32 = 10
/** So much less deep each time where too many runs are that heavy. */
const HEAVY_STEP: f32 = 0.5
/** One run of so many may be heavy, so that a row does not take much longer. */
const HEAVY_PART: i32 = 32

/** The target's arg-max. */
export let best: i32 = 0
export let peakTarget: f32 = 0
/** From this logit of the target on a token is heavy. */
export let heavy: f32 = 0

@inline
function mostOfFour(at: i32): v128 {
  const low = f32x4.pmax(v128.load(at), v128.load(at, 16))
  return f32x4.pmax(low, f32x4.pmax(v128.load(at, 32), v128.load(at, 48)))
}

/** Largest logit of every run of both sides. NaN may be passed over: the sums will show it. */
function findRunPeaks(r: i32, t: i32, runs: i32, peaks: i32): void {
  for (let end = r + runs * RUN_BYTES; r < end; peaks += 4) {
    let most = v128.load(r)
    let mostTarget = v128.load(t)
    for (let stop = r + RUN_BYTES; r < stop; r += 64, t += 64) {
      most = f32x4.pmax(most, mostOfFour(r))
      mostTarget = f32x4.pmax(mostTarget, mostOfFour(t))
    }
    store<f32>(peaks, largestOf(most))
    store<f32>(peaks + (runs << 2), largestOf(mostTarget))
  }
}

/** The first of the largest; −1 where that is not finite. */
function argMax(row: i32, runs: i32, peaks: i32): i32 {
  let top = 0
  for (let run = 1; run < runs; run++) if (load<f32>(peaks + (run << 2)) > load<f32>(peaks + (top << 2))) top = run
  const peak = load<f32>(peaks + (top << 2))
  if (!(peak - peak == 0)) return -1
  let at = top * ROW_RUN
  while (load<f32>(row + (at << 2)) != peak) at++
  return at
}

/**
 * Peaks of a row of `size` logits, both sides in whole runs that are filled up with the first logit. Flagged: they are not
 * finite.
 */
export function findPeaks(size: i32): void {
  const runs = runsOf(size)
  const t = targetOf(runs), peaks = t + runs * RUN_BYTES, peaksTarget = peaks + (runs << 2)
  put(FLAGGED, 1)
  findRunPeaks(REFERENCE, t, runs, peaks)
  best = argMax(t, runs, peaksTarget)
  const bestReference = argMax(REFERENCE, runs, peaks)
  if (best < 0 || bestReference < 0) return
  peakTarget = load<f32>(t + (best << 2))
  heavy = findHeavy(runs, peaksTarget)
  put(ARG_MAX_REFERENCE, bestReference)
  put(ARG_MAX_TARGET, best)
  put(HEAVY_LEAST, heavy)
  put(FLAGGED, 0)
}

/** Lists the runs with the heaviest tokens, as many as may be. Returns from where on a token is one. */
function findHeavy(runs: i32, peaks: i32): f32 {
  const most = min(MOST_HEAVY, runs / HEAVY_PART)
  for (let depth: f32 = HEAVY; depth > 0; depth -= HEAVY_STEP) {
    if (listHeavy(runs, peaks, peakTarget - depth, most)) return peakTarget - depth
  }
  put(HEAVY_COUNT, 0)
  return Infinity
}

/** Lists the runs that reach up to `least`; false where they are more than `most`. */
function listHeavy(runs: i32, peaks: i32, least: f32, most: i32): bool {
  let count = 0
  for (let run: i32 = 0; run < runs; run++) {
    if (load<f32>(peaks + (run << 2)) < least) continue
    if (count == most) return false
    store<i32>(HEAVY_RUNS + (count << 2), run)
    count++
  }
  put(HEAVY_COUNT, count)
  return true
}
