import {
  ABS, COSINES, COUNT, FINITE, IN_ROW, LEAST_COSINE, MAX_ABS, NONFINITE_MISMATCH, NONFINITE_REFERENCE, NONFINITE_TARGET,
  PRODUCT, ROW_PRODUCT, ROW_REFERENCE, ROW_TARGET, ROWS, SIGNS, SQUARES_DIFFERENCE, SQUARES_REFERENCE, SQUARES_TARGET,
  ZERO_ROWS,
} from '../layer-layout'
import { DIFFERENCE_64, REFERENCE_64, REFERENCE_CHUNK, RESULTS, TARGET_64, TARGET_CHUNK } from '../layout'

@inline
function get(place: i32): f64 {
  return load<f64>(RESULTS + (place << 3))
}

@inline
function put(place: i32, value: f64): void {
  store<f64>(RESULTS + (place << 3), value)
}

@inline
function add(place: i32, value: f64): void {
  put(place, get(place) + value)
}

@inline
function sign(value: f64): f64 {
  return <f64>(<i32>(value > 0) - <i32>(value < 0))
}

/** What a stretch of one row adds. Numbers at even and at odd places have sums of their own, as scalar-layers.ts has them. */
@inline
function addPart(
  numbers: i32, finite: i32, most: f64, abs: f64, dd: f64, rr: f64, tt: f64, rt: f64, signs: f64,
): void {
  add(COUNT, <f64>numbers)
  add(FINITE, <f64>finite)
  if (most > get(MAX_ABS)) put(MAX_ABS, most)
  add(ABS, abs)
  add(SQUARES_DIFFERENCE, dd)
  add(SQUARES_REFERENCE, rr)
  add(SQUARES_TARGET, tt)
  add(PRODUCT, rt)
  add(SIGNS, signs)
  add(ROW_REFERENCE, rr)
  add(ROW_TARGET, tt)
  add(ROW_PRODUCT, rt)
}

/** Some of the numbers may not be finite. */
function addCarefully(r: i32, t: i32, d: i32, count: i32): void {
  let finite = 0
  let most: f64 = 0, signs: f64 = 0
  let abs0: f64 = 0, dd0: f64 = 0, rr0: f64 = 0, tt0: f64 = 0, rt0: f64 = 0
  let abs1: f64 = 0, dd1: f64 = 0, rr1: f64 = 0, tt1: f64 = 0, rt1: f64 = 0
  for (let i = 0; i < count; i++) {
    const isFloat = d == 0
    const reference = isFloat ? <f64>load<f32>(r + (i << 2)) : load<f64>(r + (i << 3))
    const target = isFloat ? <f64>load<f32>(t + (i << 2)) : load<f64>(t + (i << 3))
    if (reference - reference != 0 || target - target != 0) {
      if (reference - reference != 0) add(NONFINITE_REFERENCE, 1)
      if (target - target != 0) add(NONFINITE_TARGET, 1)
      const isSame = reference == target || (reference != reference && target != target)
      if (!isSame) add(NONFINITE_MISMATCH, 1)
      continue
    }
    finite++
    const difference = isFloat ? target - reference : load<f64>(d + (i << 3))
    const error = abs(difference)
    if (error > most) most = error
    signs += sign(reference) * sign(target)
    if (i & 1) {
      abs1 += error
      dd1 += difference * difference
      rr1 += reference * reference
      tt1 += target * target
      rt1 += reference * target
    } else {
      abs0 += error
      dd0 += difference * difference
      rr0 += reference * reference
      tt0 += target * target
      rt0 += reference * target
    }
  }
  addPart(count, finite, most, abs0 + abs1, dd0 + dd1, rr0 + rr1, tt0 + tt1, rt0 + rt1, signs)
}

/** Two float32 at a time; a square that is not finite shows a number that is not. */
function addFloats(r: i32, t: i32, count: i32): void {
  const zero = f64x2.splat(0)
  let most = zero, errors = zero, dd = zero, rr = zero, tt = zero, rt = zero
  let signs = i64x2.splat(0)
  const pairs = count & -2
  for (let at = 0, end = pairs << 2; at < end; at += 8) {
    const reference = v128.promote_low<f32>(v128.load64_zero(r + at))
    const target = v128.promote_low<f32>(v128.load64_zero(t + at))
    const difference = f64x2.sub(target, reference)
    const error = f64x2.abs(difference)
    const product = f64x2.mul(reference, target)
    most = f64x2.pmax(most, error)
    errors = f64x2.add(errors, error)
    dd = f64x2.add(dd, f64x2.mul(difference, difference))
    rr = f64x2.add(rr, f64x2.mul(reference, reference))
    tt = f64x2.add(tt, f64x2.mul(target, target))
    rt = f64x2.add(rt, product)
    signs = i64x2.add(i64x2.sub(signs, f64x2.gt(product, zero)), f64x2.lt(product, zero))
  }
  let abs0 = f64x2.extract_lane(errors, 0), dd0 = f64x2.extract_lane(dd, 0), rr0 = f64x2.extract_lane(rr, 0)
  let tt0 = f64x2.extract_lane(tt, 0), rt0 = f64x2.extract_lane(rt, 0)
  let most0 = max(f64x2.extract_lane(most, 0), f64x2.extract_lane(most, 1))
  let signs0 = <f64>(i64x2.extract_lane(signs, 0) + i64x2.extract_lane(signs, 1))
  if (pairs < count) {
    const reference = <f64>load<f32>(r + (pairs << 2)), target = <f64>load<f32>(t + (pairs << 2))
    const difference = target - reference
    most0 = max(most0, abs(difference))
    abs0 += abs(difference)
    dd0 += difference * difference
    rr0 += reference * reference
    tt0 += target * target
    rt0 += reference * target
    signs0 += sign(reference) * sign(target)
  }
  const rrBoth = rr0 + f64x2.extract_lane(rr, 1), ttBoth = tt0 + f64x2.extract_lane(tt, 1)
  if (!(rrBoth + ttBoth < Infinity)) return addCarefully(r, t, 0, count)
  addPart(
    count, count, most0, abs0 + f64x2.extract_lane(errors, 1), dd0 + f64x2.extract_lane(dd, 1), rrBoth, ttBoth,
    rt0 + f64x2.extract_lane(rt, 1), signs0,
  )
}

/** As computeCosine does it. */
function endRow(): void {
  const rr = get(ROW_REFERENCE), tt = get(ROW_TARGET)
  add(ROWS, 1)
  if (rr == 0 || tt == 0 || rr + tt == Infinity) add(ZERO_ROWS, 1)
  else {
    const squares = rr * tt
    const norms = squares > 0 && squares < Infinity ? sqrt(squares) : sqrt(rr) * sqrt(tt)
    const cosine = max<f64>(-1, min<f64>(1, get(ROW_PRODUCT) / norms))
    add(COSINES, cosine)
    put(LEAST_COSINE, min(get(LEAST_COSINE), cosine))
  }
  put(IN_ROW, 0)
  put(ROW_REFERENCE, 0)
  put(ROW_TARGET, 0)
  put(ROW_PRODUCT, 0)
}

/** Goes on where the last call ended. Without rows, `rowLength` is infinite. */
export function measureFloats(count: i32, rowLength: f64): void {
  for (let first = 0; first < count; ) {
    const numbers = <i32>min(<f64>(count - first), rowLength - get(IN_ROW))
    addFloats(REFERENCE_CHUNK + (first << 2), TARGET_CHUNK + (first << 2), numbers)
    first = goOn(first, numbers, rowLength)
  }
}

/** The same for numbers of any dtype, which come with their differences. */
export function measureNumbers(count: i32, rowLength: f64): void {
  for (let first = 0; first < count; ) {
    const numbers = <i32>min(<f64>(count - first), rowLength - get(IN_ROW))
    const at = first << 3
    addCarefully(REFERENCE_64 + at, TARGET_64 + at, DIFFERENCE_64 + at, numbers)
    first = goOn(first, numbers, rowLength)
  }
}

function goOn(first: i32, numbers: i32, rowLength: f64): i32 {
  add(IN_ROW, <f64>numbers)
  if (get(IN_ROW) == rowLength) endRow()
  return first + numbers
}
