import {
  ARG_MAX_REFERENCE, ARG_MAX_TARGET, COUNTS, FLAGGED, PEAK_REFERENCE, PEAK_TARGET, RATIO,
  RATIO_SQUARED, ROW_RESULTS, ROW_RUN, ROWS, WEIGHT, WEIGHT_CURVE, WEIGHT_DIFFERENCE, WEIGHT_TARGET,
} from '../logits-layout'
import { held } from './constant'
import { total, widen } from './lanes'

/*
 * With * the target's arg-max, c = r* − t*, y = t − t*, x = (r − t) − c: r − t is exact in float32 where both are close,
 * and nothing is subtracted that is nearly equal after it. e^y is the weight of a token, e^x − 1 how much more the
 * reference gives it. The arg-max itself has weight 1 and x = 0 and is kept out of all sums.
 */

const RUN_BYTES: i32 = ROW_RUN << 2
/** Differences beyond are as good as infinite. */
const LARGEST: f32 = 3e38
/** Below, e^y counts as 0: its products would soon be subnormal, and those are slow. */
const VANISHES: f32 = -70
/** Up to here the short series for e^x − 1 − x is exact to float32. */
const SHORT: f32 = 0.34
/** Beyond, squares of e^x could overflow. */
const WIDEST: f32 = 44

const LOG2E: f32 = 1.4426950408889634
/** Adding this rounds to a whole number, which then lies in the lowest bits. */
const ROUNDER: f32 = 12582912
const LN2_HIGH: f32 = 0.693145751953125
const LN2_LOW: f32 = 1.428606820309417e-6

/** More constants than there are registers, in memory; see constant.ts. */
const CONSTANTS: i32 = 512
const ONE: i32 = CONSTANTS
const INVERSE_LN2: i32 = CONSTANTS + 16
const WHOLE: i32 = CONSTANTS + 32
const HIGH: i32 = CONSTANTS + 48
const LOW: i32 = CONSTANTS + 64
const LEAST: i32 = CONSTANTS + 80
/** Coefficients of e^f − 1 − f from f² on, the best of their degree for |f| ≤ ln 2 / 2. */
const CURVE: i32 = CONSTANTS + 96

function storeConstants(): void {
  v128.store(ONE, f32x4.splat(1))
  v128.store(INVERSE_LN2, f32x4.splat(LOG2E))
  v128.store(WHOLE, f32x4.splat(ROUNDER))
  v128.store(HIGH, f32x4.splat(LN2_HIGH))
  v128.store(LOW, f32x4.splat(LN2_LOW))
  v128.store(LEAST, f32x4.splat(VANISHES))
  v128.store(CURVE, f32x4.splat(0.5))
  v128.store(CURVE, f32x4.splat(0.16666576266288757), 16)
  v128.store(CURVE, f32x4.splat(0.041666556149721146), 32)
  v128.store(CURVE, f32x4.splat(0.008363177999854088), 48)
  v128.store(CURVE, f32x4.splat(0.0013926181709393859), 64)
}

let peakTarget: f32 = 0
let offset: f32 = 0
let widest: v128 = f32x4.splat(0)
let sumWeight: v128 = f64x2.splat(0)
let sumTarget: v128 = f64x2.splat(0)
let sumDifference: v128 = f64x2.splat(0)
let sumCurve: v128 = f64x2.splat(0)
let sumRatio: v128 = f64x2.splat(0)
let sumSquared: v128 = f64x2.splat(0)

@inline
function put(place: i32, value: f64): void {
  store<f64>(ROW_RESULTS + (place << 3), value)
}

@inline
function largestOf(values: v128): f32 {
  const pair = f32x4.pmax(values, v128.shuffle<i32>(values, values, 2, 3, 2, 3))
  const a = f32x4.extract_lane(pair, 0)
  const b = f32x4.extract_lane(pair, 1)
  return a < b ? b : a
}

/** Largest logit of every run of both sides; false where a logit is NaN, infinite or out of the range of differences. */
function findPeaks(r: i32, t: i32, runs: i32, peaks: i32): bool {
  const limit = held(f32x4.splat(LARGEST))
  let bad = f32x4.splat(0)
  for (let end = r + runs * RUN_BYTES; r < end; peaks += 4) {
    let most = v128.load(r)
    let mostTarget = v128.load(t)
    for (let stop = r + RUN_BYTES; r < stop; r += 16, t += 16) {
      const reference = v128.load(r)
      const target = v128.load(t)
      most = f32x4.pmax(most, reference)
      mostTarget = f32x4.pmax(mostTarget, target)
      bad = v128.or(bad, v128.not(f32x4.lt(f32x4.abs(f32x4.sub(reference, target)), limit)))
    }
    store<f32>(peaks, largestOf(most))
    store<f32>(peaks + (runs << 2), largestOf(mostTarget))
  }
  return !v128.any_true(bad)
}

/** The first of the largest. */
function argMax(row: i32, runs: i32, peaks: i32): i32 {
  let best = 0
  for (let run = 1; run < runs; run++) if (load<f32>(peaks + (run << 2)) > load<f32>(peaks + (best << 2))) best = run
  const peak = load<f32>(peaks + (best << 2))
  let at = best * ROW_RUN
  while (load<f32>(row + (at << 2)) != peak) at++
  return at
}

/** e^f − 1 − f, in pairs of terms so that fewer operations wait for each other. */
@inline
function curve(f: v128): v128 {
  const square = f32x4.mul(f, f)
  const low = f32x4.add(f32x4.mul(f, v128.load(CURVE, 16)), v128.load(CURVE))
  const high = f32x4.add(f32x4.mul(f, v128.load(CURVE, 48)), v128.load(CURVE, 32))
  const all = f32x4.add(f32x4.mul(square, v128.load(CURVE, 64)), high)
  return f32x4.mul(f32x4.add(f32x4.mul(all, square), low), square)
}

/** What is left of x after whole multiples of ln 2; `rounded` holds their number. */
@inline
function reduce(x: v128, rounded: v128): v128 {
  const whole = f32x4.sub(rounded, v128.load(WHOLE))
  const rest = f32x4.sub(x, f32x4.mul(whole, v128.load(HIGH)))
  return f32x4.sub(rest, f32x4.mul(whole, v128.load(LOW)))
}

/** e^y for y up to 0, and 0 where y is as low as it gets. */
@inline
function weightOf(y: v128): v128 {
  const rounded = f32x4.add(f32x4.mul(y, v128.load(INVERSE_LN2)), v128.load(WHOLE))
  const f = reduce(y, rounded)
  const mantissa = f32x4.add(v128.load(ONE), f32x4.add(f, curve(f)))
  return v128.and(i32x4.add(mantissa, i32x4.shl(rounded, 23)), f32x4.gt(y, v128.load(LEAST)))
}

/** One run: weights and ratios are stored, and six sums of them added up. */
@inline
function addRun(r: i32, t: i32, weights: i32, ratios: i32, isPartial: bool, isWide: bool): void {
  const peak = f32x4.splat(peakTarget)
  const shift = f32x4.splat(offset)
  const zero = f32x4.splat(0)
  let weightSum = zero, targetSum = zero, differenceSum = zero, curveSum = zero, ratioSum = zero, squaredSum = zero
  let most = widest
  for (let at = 0; at < RUN_BYTES; at += 16) {
    const target = v128.load(t + at)
    const y = f32x4.pmax(f32x4.sub(target, peak), v128.load(LEAST))
    let x = f32x4.sub(f32x4.sub(v128.load(r + at), target), shift)
    let weight = weightOf(y)
    if (isPartial) {
      const counts = v128.load(COUNTS + at)
      x = v128.and(x, counts)
      weight = v128.and(weight, counts)
    }
    most = f32x4.pmax(most, f32x4.abs(x))
    let bend: v128, ratio: v128
    if (isWide) {
      const rounded = f32x4.add(f32x4.mul(x, v128.load(INVERSE_LN2)), v128.load(WHOLE))
      const f = reduce(x, rounded)
      const bendOfRest = curve(f)
      const power = i32x4.add(i32x4.shl(rounded, 23), v128.load(ONE))
      ratio = f32x4.add(f32x4.mul(power, f32x4.add(f, bendOfRest)), f32x4.sub(power, v128.load(ONE)))
      bend = v128.bitselect(bendOfRest, f32x4.sub(ratio, x), f32x4.eq(power, v128.load(ONE)))
    } else {
      bend = curve(x)
      ratio = f32x4.add(x, bend)
    }
    v128.store(weights + at, weight)
    v128.store(ratios + at, ratio)
    weightSum = f32x4.add(weightSum, weight)
    targetSum = f32x4.add(targetSum, f32x4.mul(weight, y))
    differenceSum = f32x4.add(differenceSum, f32x4.mul(weight, x))
    curveSum = f32x4.add(curveSum, f32x4.mul(weight, bend))
    ratioSum = f32x4.add(ratioSum, ratio)
    squaredSum = f32x4.add(squaredSum, f32x4.mul(ratio, ratio))
  }
  widest = most
  sumWeight = widen(sumWeight, weightSum)
  sumTarget = widen(sumTarget, targetSum)
  sumDifference = widen(sumDifference, differenceSum)
  sumCurve = widen(sumCurve, curveSum)
  sumRatio = widen(sumRatio, ratioSum)
  sumSquared = widen(sumSquared, squaredSum)
}

function addShort(r: i32, t: i32, weights: i32, ratios: i32): void {
  addRun(r, t, weights, ratios, false, false)
}

function addWide(r: i32, t: i32, weights: i32, ratios: i32): void {
  addRun(r, t, weights, ratios, false, true)
}

/** A run without the arg-max and without what lies behind the end of the row. */
function addPartial(r: i32, t: i32, weights: i32, ratios: i32, first: i32, size: i32, best: i32): void {
  for (let i = 0; i < ROW_RUN; i++) store<i32>(COUNTS + (i << 2), first + i < size && first + i != best ? -1 : 0)
  addRun(r, t, weights, ratios, true, true)
}

/**
 * Sums of a row of `size` logits that lies at ROWS, both sides one after the other in whole runs, filled up with the
 * first logit. Flagged: not finite, or so wide that float32 does not hold it.
 */
export function addRow(size: i32): void {
  const runs = (size + ROW_RUN - 1) / ROW_RUN
  const bytes = runs * RUN_BYTES
  const r: i32 = ROWS, t: i32 = r + bytes, weights: i32 = t + bytes, ratios: i32 = weights + bytes, peaks: i32 = ratios + bytes
  storeConstants()
  put(FLAGGED, 1)
  if (!findPeaks(r, t, runs, peaks)) return
  const best = argMax(t, runs, peaks + (runs << 2))
  peakTarget = load<f32>(t + (best << 2))
  offset = load<f32>(r + (best << 2)) - peakTarget
  put(ARG_MAX_REFERENCE, argMax(r, runs, peaks))
  put(ARG_MAX_TARGET, best)
  put(PEAK_REFERENCE, load<f32>(r + (best << 2)))
  put(PEAK_TARGET, peakTarget)
  const zero = f64x2.splat(0)
  sumWeight = zero
  sumTarget = zero
  sumDifference = zero
  sumCurve = zero
  sumRatio = zero
  sumSquared = zero
  widest = f32x4.splat(0)
  addRuns(r, t, weights, ratios, size, runs, best)
  if (!(largestOf(widest) <= WIDEST)) return
  put(WEIGHT, total(sumWeight))
  put(WEIGHT_TARGET, total(sumTarget))
  put(WEIGHT_DIFFERENCE, total(sumDifference))
  put(WEIGHT_CURVE, total(sumCurve))
  put(RATIO, total(sumRatio))
  put(RATIO_SQUARED, total(sumSquared))
  put(FLAGGED, 0)
}

/** Short series until a run shows that they do not do; that run is done again. */
function addRuns(r: i32, t: i32, weights: i32, ratios: i32, size: i32, runs: i32, best: i32): void {
  let isWide = false
  for (let run = 0; run < runs; run++) {
    const first = run * ROW_RUN
    const at = first << 2
    if (best - first < ROW_RUN && best >= first || first + ROW_RUN > size) {
      addPartial(r + at, t + at, weights + at, ratios + at, first, size, best)
    } else if (isWide) {
      addWide(r + at, t + at, weights + at, ratios + at)
    } else {
      const w = sumWeight, y = sumTarget, x = sumDifference, g = sumCurve, q = sumRatio, s = sumSquared, known = widest
      widest = f32x4.splat(0)
      addShort(r + at, t + at, weights + at, ratios + at)
      if (largestOf(widest) <= SHORT) {
        widest = f32x4.pmax(widest, known)
        continue
      }
      isWide = true
      sumWeight = w
      sumTarget = y
      sumDifference = x
      sumCurve = g
      sumRatio = q
      sumSquared = s
      widest = known
      addWide(r + at, t + at, weights + at, ratios + at)
    }
  }
}

/** Σ e^y·|scale·(e^x − 1) + constant| over the row that addRow left. */
export function addDistances(size: i32, scale: f32, constant: f32): f64 {
  const runs = (size + ROW_RUN - 1) / ROW_RUN
  const bytes = runs * RUN_BYTES
  let weights: i32 = ROWS + 2 * bytes
  const slope = f32x4.splat(scale)
  const shift = f32x4.splat(constant)
  let sum = f64x2.splat(0)
  for (let end = weights + bytes; weights < end; ) {
    let part = f32x4.splat(0)
    for (let stop = weights + RUN_BYTES; weights < stop; weights += 16) {
      const distance = f32x4.abs(f32x4.add(f32x4.mul(slope, v128.load(weights + bytes)), shift))
      part = f32x4.add(part, f32x4.mul(v128.load(weights), distance))
    }
    sum = widen(sum, part)
  }
  return total(sum)
}
