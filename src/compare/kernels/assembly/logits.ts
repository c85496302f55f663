import {
  COUNTS, FLAGGED, LOG_UNIT, MOVE, RATIO, RATIO_SQUARED, ROW_RUN, ROW_STRETCH, ROWS, WEIGHT, WEIGHT_CURVE, WEIGHT_DIFFERENCE, WEIGHT_TARGET,
} from '../logits-layout'
import { held } from './constant'
import { countWeightsFrom, curve, ONE, reduce, roundedOf, shortCurve, storeConstants, weightOf } from './exponential'
import { largestOf, total, widen } from './lanes'
import { best, heavy, peakTarget } from './peaks'
import { LEAD, put, REFERENCE, RUN_BYTES, runsOf, targetOf } from './row-places'

/*
 * With * the target's arg-max, y = t − t*, and x = (r − t) − m, where m is what r − t is about: r − t is exact in float32
 * where both are close, and nothing is subtracted that is nearly equal after it. e^y is the weight of a token, e^x − 1 how
 * much more the reference gives it. The arg-max itself is kept out of all sums.
 *
 * Weights and ratios have loops of their own: together they would need more registers than there are.
 */

/** What is less counts as this, 4e-31 of the largest: products of less would soon be subnormal, and those are slow. */
const VANISHES: f32 = -70
/** Squares of x: up to here the short series for e^x − 1 − x is exact to float32; beyond, squares of e^x could overflow. */
const SHORT: f32 = 0.0625 // 0.25²
const WIDEST: f32 = 1936 // 44²
/** After so many stretches that were wider, a row is no longer tried with the short series. */
const TRIES: i32 = 4

/** Peaks up to here: weights are e^t, which rounds less than e^y. Beyond, multiples of ln 2 would no longer be exact. */
const NEAR: f32 = 128
/** A middle that is farther from the arg-max's own r − t is not taken, but that one. */
const FARTHEST: f32 = 1

let isFarRow: bool = false
let middle: f32 = 0
/** The largest x². */
let widest: v128 = f32x4.splat(0)
let sumWeight: v128 = f64x2.splat(0)
let sumTarget: v128 = f64x2.splat(0)
let sumDifference: v128 = f64x2.splat(0)
let sumCurve: v128 = f64x2.splat(0)
let sumRatio: v128 = f64x2.splat(0)
let sumSquared: v128 = f64x2.splat(0)

/** Stores the weights of some runs LEAD before them and adds them up, as they are and times y. */
@inline
function weigh(t: i32, runs: i32, isPartial: bool, isFar: bool): void {
  const peak = held(f32x4.splat(peakTarget))
  const least = held(f32x4.splat(isFar ? VANISHES : peakTarget + VANISHES))
  let wide = sumWeight, wideTarget = sumTarget
  for (let end = t + runs * RUN_BYTES; t < end; ) {
    let sum = f32x4.splat(0), targetSum = f32x4.splat(0)
    for (let at: i32 = 0; at < RUN_BYTES; at += 32, t += 32) {
      const own0 = f32x4.pmax(isFar ? f32x4.sub(v128.load(t), peak) : v128.load(t), least)
      const own1 = f32x4.pmax(isFar ? f32x4.sub(v128.load(t, 16), peak) : v128.load(t, 16), least)
      const y0 = isFar ? own0 : f32x4.sub(own0, peak)
      const y1 = isFar ? own1 : f32x4.sub(own1, peak)
      let weight0 = weightOf(own0)
      let weight1 = weightOf(own1)
      if (isPartial) {
        weight0 = v128.and(weight0, v128.load(COUNTS + at))
        weight1 = v128.and(weight1, v128.load(COUNTS + at, 16))
      }
      sum = f32x4.add(sum, f32x4.add(weight0, weight1))
      targetSum = f32x4.add(targetSum, f32x4.add(f32x4.mul(weight0, y0), f32x4.mul(weight1, y1)))
      v128.store(t - LEAD, weight0)
      v128.store(t - LEAD, weight1, 16)
    }
    wide = widen(wide, sum)
    wideTarget = widen(wideTarget, targetSum)
  }
  sumWeight = wide
  sumTarget = wideTarget
}

/** Stores the ratios of some runs LEAD before them and adds up what they and their weights give. */
@inline
function relate(r: i32, t: i32, runs: i32, isPartial: bool, isWide: bool): void {
  const shift = held(f32x4.splat(middle))
  const zero = f32x4.splat(0)
  let most = zero, wideDifference = sumDifference, wideCurve = sumCurve, wideRatio = sumRatio, wideSquared = sumSquared
  for (let end = r + runs * RUN_BYTES; r < end; ) {
    let differenceSum = zero, curveSum = zero, ratioSum = zero, squaredSum = zero
    for (let at: i32 = 0; at < RUN_BYTES; at += 16, r += 16, t += 16) {
      let x = f32x4.sub(f32x4.sub(v128.load(r), v128.load(t)), shift)
      if (isPartial) x = v128.and(x, v128.load(COUNTS + at))
      const square = f32x4.mul(x, x)
      most = f32x4.pmax(square, most)
      let bend: v128, ratio: v128
      if (isWide) {
        const rounded = roundedOf(x)
        const f = reduce(x, rounded)
        const bendOfRest = f32x4.mul(curve(f), f32x4.mul(f, f))
        const power = i32x4.add(i32x4.shl(rounded, 23), v128.load(ONE))
        ratio = f32x4.add(f32x4.mul(power, f32x4.add(f, bendOfRest)), f32x4.sub(power, v128.load(ONE)))
        bend = v128.bitselect(bendOfRest, f32x4.sub(ratio, x), f32x4.eq(power, v128.load(ONE)))
      } else {
        bend = f32x4.mul(shortCurve(x, square), square)
        ratio = f32x4.add(x, bend)
      }
      const weight = v128.load(t - LEAD)
      differenceSum = f32x4.add(differenceSum, f32x4.mul(weight, x))
      curveSum = f32x4.add(curveSum, f32x4.mul(weight, bend))
      ratioSum = f32x4.add(ratioSum, ratio)
      squaredSum = f32x4.add(squaredSum, f32x4.mul(ratio, ratio))
      v128.store(r - LEAD, ratio)
    }
    wideDifference = widen(wideDifference, differenceSum)
    wideCurve = widen(wideCurve, curveSum)
    wideRatio = widen(wideRatio, ratioSum)
    wideSquared = widen(wideSquared, squaredSum)
  }
  if (!isWide && !(largestOf(most) <= SHORT)) {
    isTooWide = true
    return
  }
  widest = f32x4.pmax(widest, most)
  sumDifference = wideDifference
  sumCurve = wideCurve
  sumRatio = wideRatio
  sumSquared = wideSquared
}

/** Set where the short series did not do; nothing was added up then. */
let isTooWide: bool = false

function weighNear(t: i32, runs: i32): void {
  weigh(t, runs, false, false)
}

function weighFar(t: i32, runs: i32): void {
  weigh(t, runs, false, true)
}

function relateShort(r: i32, t: i32, runs: i32): void {
  relate(r, t, runs, false, false)
}

function relateWide(r: i32, t: i32, runs: i32): void {
  relate(r, t, runs, false, true)
}

/** One run without the arg-max, what is heavy and what lies behind the end of the row. */
function addPartial(r: i32, t: i32, first: i32, size: i32): void {
  for (let i = 0; i < ROW_RUN; i++) {
    const counts = first + i < size && first + i != best && !(load<f32>(t + (i << 2)) >= heavy)
    store<i32>(COUNTS + (i << 2), counts ? -1 : 0)
  }
  if (isFarRow) weigh(t, 1, true, true)
  else weigh(t, 1, true, false)
  relate(r, t, 1, true, true)
}

/** Sums of the row whose peaks were found. Flagged: not finite, or so wide that float32 does not hold it. */
export function addRow(size: i32, middleDifference: f32): void {
  const r = REFERENCE, t = targetOf(runsOf(size))
  storeConstants()
  put(FLAGGED, 1)
  const bestReference = load<f32>(r + (best << 2))
  const difference = bestReference - peakTarget
  middle = abs(middleDifference - difference) <= FARTHEST ? middleDifference : difference
  put(MOVE, <f64>bestReference - <f64>peakTarget - <f64>middle)
  isFarRow = !(abs(peakTarget) <= NEAR)
  put(LOG_UNIT, countWeightsFrom(isFarRow ? 0 : peakTarget))
  const zero = f64x2.splat(0)
  sumWeight = zero
  sumTarget = zero
  sumDifference = zero
  sumCurve = zero
  sumRatio = zero
  sumSquared = zero
  widest = f32x4.splat(0)
  addRuns(r, t, size)
  // What is infinite or NaN on a side shows in x, and so in the largest square or in a sum.
  const sum = total(sumRatio) + total(sumTarget)
  if (!(largestOf(widest) <= WIDEST) || sum != sum) return
  put(WEIGHT, total(sumWeight))
  put(WEIGHT_TARGET, total(sumTarget))
  put(WEIGHT_DIFFERENCE, total(sumDifference))
  put(WEIGHT_CURVE, total(sumCurve))
  put(RATIO, total(sumRatio))
  put(RATIO_SQUARED, total(sumSquared))
  put(FLAGGED, 0)
}

/** Stretches of whole runs. Heavy ones, the run of the arg-max and one that is not full are done alone. */
function addRuns(r: i32, t: i32, size: i32): void {
  const runs = runsOf(size), bestRun = best / ROW_RUN, whole = size / ROW_RUN
  const peaks = t + runs * RUN_BYTES + (runs << 2)
  let wider = 0
  for (let run: i32 = 0; run < runs; ) {
    const at = run * RUN_BYTES
    if (run == bestRun || run >= whole || load<f32>(peaks + (run << 2)) >= heavy) {
      addPartial(r + at, t + at, run * ROW_RUN, size)
      run++
      continue
    }
    let count = 1
    for (let next = run + 1; count < ROW_STRETCH && next < whole && next != bestRun; next++, count++) {
      if (load<f32>(peaks + (next << 2)) >= heavy) break
    }
    if (isFarRow) weighFar(t + at, count)
    else weighNear(t + at, count)
    isTooWide = wider >= TRIES
    if (!isTooWide) relateShort(r + at, t + at, count)
    if (isTooWide) {
      relateWide(r + at, t + at, count)
      wider++
    }
    run += count
  }
}

/** Σ e^y·|e^x − 1 + constant| over the row that addRow left. */
export function addDistances(size: i32, constant: f32): f64 {
  const runs = runsOf(size)
  let weights = targetOf(runs) - LEAD
  const shift = f32x4.splat(constant)
  const magnitude = held(i32x4.splat(0x7fffffff))
  let sum = f64x2.splat(0)
  let ratios: i32 = ROWS
  for (let end = ratios + runs * RUN_BYTES; ratios < end; ) {
    let part0 = f32x4.splat(0), part1 = f32x4.splat(0)
    for (let stop = ratios + RUN_BYTES; ratios < stop; ratios += 32, weights += 32) {
      const distance0 = v128.and(f32x4.add(v128.load(ratios), shift), magnitude)
      const distance1 = v128.and(f32x4.add(v128.load(ratios, 16), shift), magnitude)
      part0 = f32x4.add(part0, f32x4.mul(v128.load(weights), distance0))
      part1 = f32x4.add(part1, f32x4.mul(v128.load(weights, 16), distance1))
    }
    sum = widen(sum, f32x4.add(part0, part1))
  }
  return total(sum)
}
