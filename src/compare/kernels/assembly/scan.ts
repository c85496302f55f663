import {
  ABSOLUTE_32, ABSOLUTE_BINS, BFLOAT16, BLOCK, BLOCK_WORDS, BLOCKS, DIFFERENT, FLOAT16, FLOAT32, LEAST_ABS, LEAST_RELATIVE, MAX_REFERENCE,
  MAX_ULP, REFERENCE_32, RELATIVE_32, RELATIVE_BINS, RESULTS, SUM_ABS, SUM_DIFFERENCE, SUM_FINITE, SUM_HALF_ULP,
  SUM_PRODUCT, SUM_REFERENCE, SUM_RELATIVE, SUM_RELATIVE_COUNT, SUM_TARGET, TARGET_32, WORD_MAX_ABS,
  WORD_MAX_RELATIVE, WORD_SKIPPED, WORD_SUSPECT, RESULT_COUNT,
} from '../layout'
import { held } from './constant'
import { decodeBfloat16, decodeFloat16 } from './decode'
import { largestOf, total, widen } from './lanes'
import { halfStepsBetween, stepsBetween } from './steps'

/** Bytes of as many numbers as are added up in each lane of float32, and of as many such sums, before float64 takes over. */
const RUN: i32 = 8 * 16
const GROUP: i32 = 8 * RUN
/** Squares of smaller numbers would lose bits. */
const LEAST_DIFFERENCE: f32 = 8.881784197001252e-16 // 2^-50
const LEAST_REFERENCE: f32 = 9.094947017729282e-13 // 2^-40
const LARGEST_RELATIVE: f32 = 1e30
/** Up to here both sides lie within a factor of two, and so many steps apart at most, in parts of the reference. */
const EXACT_RELATIVE: f32 = 0.499
const STEPS_PER_RELATIVE: f64 = 33554432 // 2^25
/** All bits of a float32 but its sign. */
const MAGNITUDE: i32 = 0x7fffffff
/** Offsets of 32768 bins of 4 bytes. */
const BIN_OFFSETS: i32 = 0x1fffc

// What one block gives.
let sumAbs: f64 = 0
let sumDifference: f64 = 0
let sumReference: f64 = 0
let sumTarget: f64 = 0
let sumProduct: f64 = 0
let maxAbs: f32 = 0
let leastAbs: f32 = 0
let maxReference: f32 = 0
let sumRelative: f64 = 0
let sumHalfUlp: f64 = 0
let maxRelative: f32 = 0
let leastRelative: f32 = 0
let relativeCount: i32 = 0
let different: i32 = 0
let suspect: i32 = 0
/** Whether a place is further off than about half of the reference. */
let isFar: bool = false

@inline
function least(values: v128): f32 {
  const a = f32x4.extract_lane(values, 0)
  const b = f32x4.extract_lane(values, 1)
  const c = f32x4.extract_lane(values, 2)
  const d = f32x4.extract_lane(values, 3)
  const ab = b < a ? b : a
  const cd = d < c ? d : c
  return cd < ab ? cd : ab
}

@inline
function laneSum(counts: v128): i32 {
  return (
    i32x4.extract_lane(counts, 0) + i32x4.extract_lane(counts, 1) + i32x4.extract_lane(counts, 2) +
    i32x4.extract_lane(counts, 3)
  )
}

/** Sums and largest magnitudes: all that touches memory which is not in the first cache yet, in as few operations as possible. */
function addBlock(r: i32, t: i32): void {
  const zero = f64x2.splat(0)
  const bits = held(i32x4.splat(MAGNITUDE))
  let wideAbs = zero, wideDifference = zero, wideReference = zero, wideProduct = zero
  let mostAbs = zero, mostReference = zero, mostRelative = zero
  for (let end = r + (BLOCK << 2); r < end; ) {
    let differences = zero, references = zero, products = zero
    for (let groupEnd = r + GROUP; r < groupEnd; ) {
      let differences1 = zero, references1 = zero, products1 = zero
      for (let runEnd = r + RUN; r < runEnd; r += 16, t += 16) {
        const reference = v128.load(r)
        const difference = f32x4.sub(v128.load(t), reference)
        const error = v128.and(difference, bits)
        const magnitude = v128.and(reference, bits)
        wideAbs = widen(wideAbs, error)
        differences1 = f32x4.add(differences1, f32x4.mul(difference, difference))
        references1 = f32x4.add(references1, f32x4.mul(reference, reference))
        products1 = f32x4.add(products1, f32x4.mul(difference, reference))
        mostAbs = f32x4.pmax(mostAbs, error)
        mostReference = f32x4.pmax(mostReference, magnitude)
        mostRelative = f32x4.pmax(mostRelative, f32x4.div(error, magnitude))
      }
      differences = f32x4.add(differences, differences1)
      references = f32x4.add(references, references1)
      products = f32x4.add(products, products1)
    }
    wideDifference = widen(wideDifference, differences)
    wideReference = widen(wideReference, references)
    wideProduct = widen(wideProduct, products)
  }
  sumAbs = total(wideAbs)
  sumDifference = total(wideDifference)
  sumReference = total(wideReference)
  sumProduct = total(wideProduct)
  maxAbs = largestOf(mostAbs)
  maxReference = largestOf(mostReference)
  maxRelative = largestOf(mostRelative)
}

/** Σt² follows from the other sums, but for roundings that would show where the target is much smaller than the reference. */
function addTarget(t: i32): void {
  sumTarget = sumReference + 2 * sumProduct + sumDifference
  if (sumTarget >= 0.5 * sumReference) return
  let wide = f64x2.splat(0)
  for (let end = t + (BLOCK << 2); t < end; ) {
    let sums = f32x4.splat(0)
    for (let stop = t + RUN; t < stop; t += 16) {
      const target = v128.load(t)
      sums = f32x4.add(sums, f32x4.mul(target, target))
    }
    wide = widen(wide, sums)
  }
  sumTarget = total(wide)
}

/** Relative errors where the reference is not zero; at those places they are infinite. */
function relateFinite(r: i32, t: i32): void {
  const bits = held(i32x4.splat(MAGNITUDE))
  const zero = f32x4.splat(0)
  let most = zero
  for (let end = r + (BLOCK << 2); r < end; r += 16, t += 16) {
    const reference = v128.load(r)
    const error = v128.and(f32x4.sub(v128.load(t), reference), bits)
    const relative = f32x4.div(error, v128.and(reference, bits))
    most = f32x4.pmax(most, v128.andnot(relative, f32x4.eq(reference, zero)))
  }
  maxRelative = largestOf(most)
}

/** Whether any place may be over its limit; none is unless the largest error is over the smallest limit. */
function checkLimits(r: i32, t: i32, rtol: f32, constant: f32): void {
  suspect = 0
  if (maxAbs <= constant) return
  const bits = held(i32x4.splat(MAGNITUDE))
  const zero = f32x4.splat(0)
  const slope = f32x4.splat(rtol)
  const offset = f32x4.splat(constant)
  let over = zero
  for (let end = r + (BLOCK << 2); r < end; r += 16, t += 16) {
    const reference = v128.load(r)
    const error = v128.and(f32x4.sub(v128.load(t), reference), bits)
    const limit = f32x4.pmax(f32x4.add(f32x4.mul(slope, v128.and(reference, bits)), offset), zero)
    over = v128.or(over, f32x4.gt(error, limit))
  }
  suspect = <i32>v128.any_true(over)
}

/**
 * Everything about relative errors but the largest, and what is counted. Leaves at ABSOLUTE_32 and RELATIVE_32 which bins of
 * the histograms the errors belong to, as offsets; that of NaN where the reference is zero.
 */
function relateBlock(r: i32, t: i32): void {
  const bits = held(i32x4.splat(MAGNITUDE))
  const bins = held(i32x4.splat(BIN_OFFSETS))
  const zero = f32x4.splat(0)
  let wide = f64x2.splat(0)
  let leastOf = f32x4.splat(Infinity), leastRelativeOf = leastOf, zeros = zero, equal = zero
  let at: i32 = 0
  for (let end: i32 = BLOCK << 2; at < end; ) {
    let sums = zero
    for (let stop = at + 2 * RUN; at < stop; at += 16) {
      const reference = v128.load(r + at)
      const error = v128.and(f32x4.sub(v128.load(t + at), reference), bits)
      const relative = f32x4.div(error, v128.and(reference, bits))
      const isZero = f32x4.eq(reference, zero)
      const known = v128.or(relative, isZero)
      v128.store(ABSOLUTE_32 + at, v128.and(i32x4.shr_u(error, 14), bins))
      v128.store(RELATIVE_32 + at, v128.and(i32x4.shr_u(known, 14), bins))
      sums = f32x4.add(sums, v128.andnot(relative, isZero))
      leastOf = f32x4.pmin(leastOf, error)
      leastRelativeOf = f32x4.pmin(leastRelativeOf, known)
      zeros = i32x4.add(zeros, isZero)
      equal = i32x4.add(equal, f32x4.eq(error, zero))
    }
    wide = widen(wide, sums)
  }
  sumRelative = total(wide)
  leastAbs = least(leastOf)
  leastRelative = least(leastRelativeOf)
  relativeCount = BLOCK + laneSum(zeros)
  different = BLOCK + laneSum(equal)
}

/** As checkLimits, where a step of the storage dtype may be larger than the limits. */
function checkSteps(r: i32, t: i32, rtol: f32, constant: f32, ulps: f32, tie: f32, mantissa: f32, leastPower: f32): void {
  const zero = f32x4.splat(0)
  const bits = held(i32x4.splat(MAGNITUDE))
  const exponent = held(i32x4.splat(0x7f800000))
  const smallest = f32x4.splat(leastPower)
  const step = f32x4.splat(mantissa)
  const slope = f32x4.splat(rtol)
  const offset = f32x4.splat(constant)
  const steps = f32x4.splat(ulps)
  const half = held(f32x4.splat(0.5))
  const tied = f32x4.splat(tie)
  let wide = f64x2.splat(0)
  let over = zero
  let at: i32 = 0
  for (let end: i32 = BLOCK << 2; at < end; ) {
    let sums = zero
    for (let stop = at + 2 * RUN; at < stop; at += 16) {
      const reference = v128.load(r + at)
      const ulp = f32x4.mul(f32x4.pmax(v128.and(reference, exponent), smallest), step)
      const halfUlp = f32x4.mul(ulp, half)
      sums = f32x4.add(sums, f32x4.mul(halfUlp, halfUlp))
      const limit = f32x4.add(f32x4.mul(slope, v128.and(reference, bits)), offset)
      const raised = f32x4.pmax(limit, f32x4.pmax(f32x4.mul(steps, ulp), zero))
      const error = v128.and(f32x4.sub(v128.load(t + at), reference), bits)
      const isTied = v128.and(f32x4.ge(error, raised), f32x4.gt(error, tied))
      over = v128.or(over, v128.or(f32x4.gt(error, raised), isTied))
    }
    wide = widen(wide, sums)
  }
  sumHalfUlp = total(wide)
  suspect = <i32>v128.any_true(over)
}

/** Most steps between both sides of a float32 block, unless it is surely no more than is known already. */
function raiseSteps(r: i32, t: i32): void {
  const isFewer = !isFar && maxRelative * STEPS_PER_RELATIVE <= load<f64>(RESULTS + (MAX_ULP << 3))
  if (!isFewer) raise(MAX_ULP, stepsBetween(r, t))
}

/** Whether float32 held everything: nothing infinite or NaN, nothing so small that its square lost bits. */
function isHeld(): bool {
  const sums = sumReference + sumTarget + sumDifference
  if (!(sums - sums == 0)) return false
  if (maxAbs != 0 && maxAbs < LEAST_DIFFERENCE) return false
  if (maxReference != 0 && maxReference < LEAST_REFERENCE) return false
  return maxRelative < LARGEST_RELATIVE
}

@inline
function add(place: i32, value: f64): void {
  const at = RESULTS + (place << 3)
  store<f64>(at, load<f64>(at) + value)
}

@inline
function raise(place: i32, value: f64): void {
  const at = RESULTS + (place << 3)
  if (load<f64>(at) < value) store<f64>(at, value)
}

@inline
function lower(place: i32, value: f64): void {
  const at = RESULTS + (place << 3)
  if (value < load<f64>(at)) store<f64>(at, value)
}

function keepBlock(hasSteps: bool): void {
  add(SUM_FINITE, BLOCK)
  add(SUM_ABS, sumAbs)
  add(SUM_DIFFERENCE, sumDifference)
  add(SUM_REFERENCE, sumReference)
  add(SUM_TARGET, sumTarget)
  add(SUM_PRODUCT, sumProduct)
  if (hasSteps) add(SUM_HALF_ULP, sumHalfUlp)
  raise(MAX_REFERENCE, maxReference)
}

function keepRelative(): void {
  add(SUM_RELATIVE, sumRelative)
  add(SUM_RELATIVE_COUNT, relativeCount)
  add(DIFFERENT, different)
  lower(LEAST_ABS, leastAbs)
  lower(LEAST_RELATIVE, leastRelative)
}

/** Adds the errors of a block to both histograms. */
function countErrors(): void {
  for (let at = 0; at < BLOCK << 2; at += 8) {
    countAbsolute(load<u32>(at, ABSOLUTE_32))
    countRelative(load<u32>(at, RELATIVE_32))
    countAbsolute(load<u32>(at, ABSOLUTE_32 + 4))
    countRelative(load<u32>(at, RELATIVE_32 + 4))
  }
}

@inline
function countAbsolute(offset: i32): void {
  store<u32>(offset, load<u32>(offset, ABSOLUTE_BINS) + 1, ABSOLUTE_BINS)
}

@inline
function countRelative(offset: i32): void {
  store<u32>(offset, load<u32>(offset, RELATIVE_BINS) + 1, RELATIVE_BINS)
}

/**
 * Everything about the first `blocks` blocks of a chunk except exact maxima and who is over a limit: for these it says
 * where to look. Limits are |d| ≤ rtol·|r| + constant, or ulps steps; give them a little too tight.
 * Errors just at a limit of steps matter too if they are above `tie`. `maxUlp` is the most steps that are known already.
 */
export function scan(
  kind: i32, blocks: i32, rtol: f32, constant: f32, ulps: f32, hasSteps: bool, tie: f32, reference: i32, target: i32,
  maxUlp: f64, hasBins: bool,
): void {
  memory.fill(RESULTS, 0, RESULT_COUNT << 3)
  store<f64>(RESULTS + (LEAST_ABS << 3), Infinity)
  store<f64>(RESULTS + (LEAST_RELATIVE << 3), Infinity)
  store<f64>(RESULTS + (MAX_ULP << 3), maxUlp)
  const bytes: i32 = kind == FLOAT32 ? BLOCK << 2 : BLOCK << 1
  const step: f32 = kind == FLOAT16 ? 0.0009765625 : kind == BFLOAT16 ? 0.0078125 : 1.1920928955078125e-7
  const smallest: f32 = kind == FLOAT16 ? 0.00006103515625 : 1.1754943508222875e-38
  for (let block = 0; block < blocks; block++) {
    const stored = reference + block * bytes
    const storedTarget = target + block * bytes
    let r = stored
    let t = storedTarget
    if (kind != FLOAT32) {
      r = REFERENCE_32
      t = TARGET_32
      decode(kind, stored, r)
      decode(kind, storedTarget, t)
    }
    addBlock(r, t)
    addTarget(t)
    isFar = maxRelative > EXACT_RELATIVE
    if (maxRelative == Infinity) relateFinite(r, t)
    if (hasSteps) checkSteps(r, t, rtol, constant, ulps, tie, step, smallest)
    else checkLimits(r, t, rtol, constant)
    const isKept = isHeld()
    if (isKept) {
      if (kind == FLOAT32) raiseSteps(r, t)
      else raise(MAX_ULP, halfStepsBetween(stored, storedTarget))
      keepBlock(hasSteps)
      if (hasBins) {
        relateBlock(r, t)
        keepRelative()
        countErrors()
      }
    }
    const words = BLOCKS + (block * BLOCK_WORDS << 2)
    store<i32>(words + (WORD_SKIPPED << 2), isKept ? 0 : 1)
    store<i32>(words + (WORD_SUSPECT << 2), suspect)
    store<f32>(words + (WORD_MAX_ABS << 2), maxAbs)
    store<f32>(words + (WORD_MAX_RELATIVE << 2), maxRelative)
  }
}

function decode(kind: i32, from: i32, to: i32): void {
  if (kind == FLOAT16) decodeFloat16(from, to, BLOCK)
  else decodeBfloat16(from, to, BLOCK)
}
