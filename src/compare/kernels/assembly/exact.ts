import {
  ABSOLUTE_32, BFLOAT16, BLOCK, CANDIDATE_COUNT, CANDIDATES, DIFFERENCE_64, DIFFERENT, FLOAT16, LEAST_ABS, LEAST_RELATIVE,
  MAX_ABS, MAX_REFERENCE, MAX_RELATIVE, MAX_ULP, NEEDED_CONSTANT, OVER_LIMIT, REFERENCE_32, REFERENCE_64, REFERENCE_CHUNK, RELATIVE_32,
  RESULTS, SUM_ABS, SUM_DIFFERENCE, SUM_HALF_ULP, SUM_PRODUCT, SUM_REFERENCE, SUM_RELATIVE, SUM_RELATIVE_COUNT, SUM_TARGET,
  TARGET_32, TARGET_64, TARGET_CHUNK,
} from '../layout'
import { held } from './constant'
import { decodeBfloat16, decodeFloat16 } from './decode'

// The same operations on float64 as in the scalar path, and sums in the same order: four of them, merged at the end.

@inline
function put(place: i32, value: f64): void {
  store<f64>(RESULTS + (place << 3), value)
}

@inline
function merged(low: v128, high: v128): f64 {
  return f64x2.extract_lane(low, 0) + f64x2.extract_lane(low, 1) + (f64x2.extract_lane(high, 0) + f64x2.extract_lane(high, 1))
}

@inline
function largest(values: v128): f64 {
  const a = f64x2.extract_lane(values, 0)
  const b = f64x2.extract_lane(values, 1)
  return a < b ? b : a
}

/** One block of a scanned chunk as float64, with its difference. */
export function promote(kind: i32, block: i32): void {
  const from = block * (kind == 0 ? BLOCK << 2 : BLOCK << 1)
  let r: i32 = REFERENCE_CHUNK + from
  let t: i32 = TARGET_CHUNK + from
  if (kind == FLOAT16) {
    decodeFloat16(r, REFERENCE_32, BLOCK)
    decodeFloat16(t, TARGET_32, BLOCK)
  } else if (kind == BFLOAT16) {
    decodeBfloat16(r, REFERENCE_32, BLOCK)
    decodeBfloat16(t, TARGET_32, BLOCK)
  }
  if (kind != 0) {
    r = REFERENCE_32
    t = TARGET_32
  }
  for (let at: i32 = 0; at < BLOCK << 3; at += 16, r += 8, t += 8) {
    v128.store(REFERENCE_64 + at, v128.promote_low<f32>(v128.load64_zero(r)))
    v128.store(TARGET_64 + at, v128.promote_low<f32>(v128.load64_zero(t)))
  }
  subtract(BLOCK)
}

export function subtract(count: i32): void {
  const end = count << 3
  for (let at: i32 = 0; at < end; at += 16) {
    v128.store(DIFFERENCE_64 + at, f64x2.sub(v128.load(TARGET_64 + at), v128.load(REFERENCE_64 + at)))
  }
}

/** Whether all numbers of a block are finite. */
export function inspect(count: i32): bool {
  if (count & 1) {
    store<f64>(REFERENCE_64 + (count << 3), 0)
    store<f64>(TARGET_64 + (count << 3), 0)
  }
  const zero = f64x2.splat(0)
  const infinity = held(f64x2.splat(Infinity))
  let rest = zero, most = zero
  for (let at = 0, end = count << 3; at < end; at += 16) {
    const reference = v128.load(REFERENCE_64 + at)
    const target = v128.load(TARGET_64 + at)
    rest = f64x2.add(rest, f64x2.add(f64x2.mul(reference, zero), f64x2.mul(target, zero)))
    const magnitude = f64x2.abs(reference)
    most = f64x2.pmax(most, v128.and(magnitude, f64x2.ne(magnitude, infinity)))
  }
  put(MAX_REFERENCE, largest(most))
  return f64x2.extract_lane(rest, 0) + f64x2.extract_lane(rest, 1) == 0
}

/** 2^exponent for −1074 … 1023. */
@inline
function powerOfTwo(exponent: i32): f64 {
  return exponent >= -1022
    ? reinterpret<f64>(<i64>(exponent + 1023) << 52)
    : reinterpret<f64>(<i64>1 << <i64>(exponent + 1074))
}

@inline
function binadeOf(value: f64, minExponent: i32): i32 {
  const exponent = <i32>((reinterpret<i64>(value) >> 52) & 0x7ff) - 1023
  return exponent < minExponent ? minExponent : exponent
}

@inline
function stepsBetween(a: f64, b: f64, mantissaBits: i32, minExponent: i32): f64 {
  const perBinade = powerOfTwo(mantissaBits)
  const binadeA = binadeOf(a, minExponent)
  const binadeB = binadeOf(b, minExponent)
  const stepsA = abs(a) / powerOfTwo(binadeA - mantissaBits)
  const stepsB = abs(b) / powerOfTwo(binadeB - mantissaBits)
  if (a < 0 == b < 0) return abs(<f64>(binadeA - binadeB) * perBinade + (stepsA - stepsB))
  return <f64>(binadeA - minExponent) * perBinade + stepsA + <f64>(binadeB - minExponent) * perBinade + stepsB
}

/** The same number on both sides is no step apart, however it is written. */
function measureSteps(count: i32, mantissaBits: i32, minExponent: i32): void {
  let most: f64 = 0
  const end = count << 3
  for (let at: i32 = 0; at < end; at += 8) {
    const a = load<f64>(REFERENCE_64 + at)
    const b = load<f64>(TARGET_64 + at)
    if (a == b) continue
    const distance = stepsBetween(a, b, mantissaBits, minExponent)
    if (distance > most) most = distance
  }
  put(MAX_ULP, most)
}

/** Half a step everywhere, squared and added up. */
function addHalfSteps(count: i32, unit: f64, mantissaBits: i32, minExponent: i32): void {
  const exponent = held(i64x2.splat(0x7ff0000000000000))
  const smallest = f64x2.splat(powerOfTwo(minExponent))
  const step = f64x2.splat(powerOfTwo(-mantissaBits))
  const half = held(f64x2.splat(0.5))
  const scale = f64x2.splat(unit)
  let low = f64x2.splat(0), high = f64x2.splat(0)
  const end = count << 3
  let at: i32 = 0
  for (; at + 32 <= end; at += 32) {
    const a = f64x2.mul(f64x2.mul(f64x2.mul(f64x2.pmax(v128.and(v128.load(REFERENCE_64 + at), exponent), smallest), step), half), scale)
    const b = f64x2.mul(f64x2.mul(f64x2.mul(f64x2.pmax(v128.and(v128.load(REFERENCE_64 + at, 16), exponent), smallest), step), half), scale)
    low = f64x2.add(low, f64x2.mul(a, a))
    high = f64x2.add(high, f64x2.mul(b, b))
  }
  let sum = merged(low, high)
  for (; at < end; at += 8) {
    const size = powerOfTwo(binadeOf(load<f64>(REFERENCE_64 + at), minExponent) - mantissaBits)
    const a = (size / 2) * unit
    sum += a * a
  }
  put(SUM_HALF_ULP, sum)
}

function addSquares(count: i32, unit: f64): void {
  const scale = f64x2.splat(unit)
  const zero = f64x2.splat(0)
  let abs0 = zero, abs1 = zero, dd0 = zero, dd1 = zero, rr0 = zero, rr1 = zero, tt0 = zero, tt1 = zero, dr0 = zero, dr1 = zero
  const end = count << 3
  let at: i32 = 0
  for (; at + 32 <= end; at += 32) {
    const d0 = f64x2.mul(v128.load(DIFFERENCE_64 + at), scale)
    const d1 = f64x2.mul(v128.load(DIFFERENCE_64 + at, 16), scale)
    const r0 = f64x2.mul(v128.load(REFERENCE_64 + at), scale)
    const r1 = f64x2.mul(v128.load(REFERENCE_64 + at, 16), scale)
    const t0 = f64x2.mul(v128.load(TARGET_64 + at), scale)
    const t1 = f64x2.mul(v128.load(TARGET_64 + at, 16), scale)
    abs0 = f64x2.add(abs0, f64x2.abs(d0))
    abs1 = f64x2.add(abs1, f64x2.abs(d1))
    dd0 = f64x2.add(dd0, f64x2.mul(d0, d0))
    dd1 = f64x2.add(dd1, f64x2.mul(d1, d1))
    rr0 = f64x2.add(rr0, f64x2.mul(r0, r0))
    rr1 = f64x2.add(rr1, f64x2.mul(r1, r1))
    tt0 = f64x2.add(tt0, f64x2.mul(t0, t0))
    tt1 = f64x2.add(tt1, f64x2.mul(t1, t1))
    dr0 = f64x2.add(dr0, f64x2.mul(d0, r0))
    dr1 = f64x2.add(dr1, f64x2.mul(d1, r1))
  }
  let sumAbs = merged(abs0, abs1), dd = merged(dd0, dd1), rr = merged(rr0, rr1), tt = merged(tt0, tt1), dr = merged(dr0, dr1)
  for (; at < end; at += 8) {
    const d = load<f64>(DIFFERENCE_64 + at) * unit
    const r = load<f64>(REFERENCE_64 + at) * unit
    const t = load<f64>(TARGET_64 + at) * unit
    sumAbs += abs(d)
    dd += d * d
    rr += r * r
    tt += t * t
    dr += d * r
  }
  put(SUM_ABS, sumAbs)
  put(SUM_DIFFERENCE, dd)
  put(SUM_REFERENCE, rr)
  put(SUM_TARGET, tt)
  put(SUM_PRODUCT, dr)
}

/** Relative errors are those of places where the reference is not zero; elsewhere NaN goes to the histogram. */
function addErrors(count: i32, unit: f64): void {
  let leastAbs: f64 = Infinity, leastRelative: f64 = Infinity
  let sum: f64 = 0, most: f64 = 0, mostRelative: f64 = 0
  let different = 0, relatives = 0
  const end = count << 3
  for (let at: i32 = 0; at < end; at += 8) {
    const error = abs(load<f64>(DIFFERENCE_64 + at))
    const reference = load<f64>(REFERENCE_64 + at)
    const scaled = error * unit
    different += i32(error != 0)
    if (error > most) most = error
    if (scaled < leastAbs) leastAbs = scaled
    store<f32>(ABSOLUTE_32 + (at >> 1), <f32>scaled)
    let relative: f64 = NaN
    if (reference != 0) {
      relative = error / abs(reference)
      sum += relative
      relatives++
      if (relative > mostRelative) mostRelative = relative
      if (relative < leastRelative) leastRelative = relative
    }
    store<f32>(RELATIVE_32 + (at >> 1), <f32>relative)
  }
  put(DIFFERENT, different)
  put(MAX_ABS, most)
  put(MAX_RELATIVE, mostRelative)
  put(LEAST_ABS, leastAbs)
  put(LEAST_RELATIVE, leastRelative)
  put(SUM_RELATIVE, sum)
  put(SUM_RELATIVE_COUNT, relatives)
}

/** Everything about a block of finite numbers except who is over a limit. mantissaBits below 0: no steps are counted. */
export function addUp(count: i32, unit: f64, mantissaBits: i32, minExponent: i32, hasSteps: bool): void {
  addSquares(count, unit)
  addErrors(count, unit)
  put(SUM_HALF_ULP, 0)
  put(MAX_ULP, 0)
  if (hasSteps) addHalfSteps(count, unit, mantissaBits, minExponent)
  if (mantissaBits >= 0) measureSteps(count, mantissaBits, minExponent)
}

/**
 * Who is over a limit, exactly: |d| ≤ rtol·|r| + constant, or `ulps` steps where they are larger. Lists the places whose
 * error is above `floor`, and above `high` times their limit or, above `tie`, at least `low` times.
 */
export function look(
  count: i32, rtol: f64, constant: f64, ulps: f64, mantissaBits: i32, minExponent: i32, floor: f64, high: f64, low: f64, tie: f64,
): void {
  const slope = f64x2.splat(rtol)
  const offset = f64x2.splat(constant)
  const exponent = held(i64x2.splat(0x7ff0000000000000))
  const smallest = f64x2.splat(powerOfTwo(minExponent))
  const step = f64x2.splat(mantissaBits < 0 ? 0 : powerOfTwo(-mantissaBits))
  const steps = f64x2.splat(ulps)
  const infinity = held(f64x2.splat(Infinity))
  const highest = f64x2.splat(high)
  const lowest = f64x2.splat(low)
  const bottom = f64x2.splat(floor)
  const tied = f64x2.splat(tie)
  const zero = f64x2.splat(0)
  let over = i64x2.splat(0), needed = zero, mostAbs = zero, mostRelative = zero
  let candidates: i32 = CANDIDATES
  // An odd count ends with a pair of zeros, which is never over.
  if (count & 1) {
    store<f64>(REFERENCE_64 + (count << 3), 0)
    store<f64>(DIFFERENCE_64 + (count << 3), 0)
  }
  const end = count << 3
  for (let at: i32 = 0; at < end; at += 16) {
    const reference = v128.load(REFERENCE_64 + at)
    const magnitude = f64x2.abs(reference)
    const error = f64x2.abs(v128.load(DIFFERENCE_64 + at))
    const part = f64x2.mul(slope, magnitude)
    const ulp = f64x2.mul(f64x2.pmax(v128.and(reference, exponent), smallest), step)
    // pmax keeps the first unless the second is larger.
    const allowed = f64x2.pmax(f64x2.add(part, offset), f64x2.mul(steps, ulp))
    const isOver = v128.or(v128.not(f64x2.le(error, allowed)), f64x2.eq(error, infinity))
    over = i64x2.sub(over, isOver)
    needed = f64x2.pmax(needed, v128.and(f64x2.sub(error, part), isOver))
    mostAbs = f64x2.pmax(mostAbs, error)
    mostRelative = f64x2.pmax(mostRelative, v128.and(f64x2.div(error, magnitude), f64x2.ne(magnitude, zero)))
    const isAbove = v128.or(v128.not(f64x2.le(error, f64x2.mul(highest, allowed))), f64x2.gt(error, tied))
    const isLevel = v128.and(f64x2.gt(error, bottom), v128.not(f64x2.lt(error, f64x2.mul(lowest, allowed))))
    const isHigh = v128.and(isAbove, isLevel)
    if (v128.any_true(isHigh)) {
      const place = <i32>(at >> 3)
      if (i64x2.extract_lane(isHigh, 0) != 0) {
        store<i32>(candidates, place)
        candidates += 4
      }
      if (i64x2.extract_lane(isHigh, 1) != 0) {
        store<i32>(candidates, place + 1)
        candidates += 4
      }
    }
  }
  put(OVER_LIMIT, <f64>(i64x2.extract_lane(over, 0) + i64x2.extract_lane(over, 1)))
  put(NEEDED_CONSTANT, largest(needed))
  put(MAX_ABS, largest(mostAbs))
  put(MAX_RELATIVE, largest(mostRelative))
  put(CANDIDATE_COUNT, <f64>((candidates - CANDIDATES) >> 2))
}
