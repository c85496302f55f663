import { DIFFERENCE_64, REFERENCE_64, RESULTS, SQUARES_64, TARGET_64 } from '../layout'
import {
  MOMENTS_REFERENCE, MOMENTS_TARGET, SUM_D, SUM_DD, SUM_DR, SUM_NEIGHBOURS, SUM_R, SUM_RR,
} from '../survey-layout'
import { total } from './lanes'

@inline
function put(place: i32, value: f64): void {
  store<f64>(RESULTS + (place << 3), value)
}

/** Squares around the mean of `count` numbers, and with the smallest and largest of them. */
function moments(from: i32, count: i32, sum: f64, place: i32): void {
  const mean = sum / <f64>count
  const centre = f64x2.splat(mean)
  let squares = f64x2.splat(0), least = f64x2.splat(Infinity), most = f64x2.splat(-Infinity)
  const end = from + (count << 3)
  let at = from
  for (; at + 16 <= end; at += 16) {
    const numbers = v128.load(at)
    const apart = f64x2.sub(numbers, centre)
    squares = f64x2.add(squares, f64x2.mul(apart, apart))
    least = f64x2.pmin(least, numbers)
    most = f64x2.pmax(most, numbers)
  }
  const number = at < end ? load<f64>(at) : load<f64>(from)
  const rest = at < end ? (number - mean) * (number - mean) : 0
  put(place, mean)
  put(place + 1, total(squares) + rest)
  put(place + 2, min(number, min(f64x2.extract_lane(least, 0), f64x2.extract_lane(least, 1))))
  put(place + 3, max(number, max(f64x2.extract_lane(most, 0), f64x2.extract_lane(most, 1))))
}

/** Of every difference times the one before it; `last` stands before the first. */
function neighbours(count: i32, last: f64): f64 {
  store<f64>(DIFFERENCE_64 - 8, last)
  let sums = f64x2.splat(0)
  const end = DIFFERENCE_64 + (count << 3)
  let at: i32 = DIFFERENCE_64
  for (; at + 16 <= end; at += 16) sums = f64x2.add(sums, f64x2.mul(v128.load(at), v128.load(at - 8)))
  return total(sums) + (at < end ? load<f64>(at) * load<f64>(at - 8) : 0)
}

/** Sums over a block of both sides; leaves its differences and their squares. */
export function survey(count: i32, last: f64): void {
  const zero = f64x2.splat(0)
  let r = zero, t = zero, d = zero, rr = zero, dd = zero, dr = zero
  // An odd count ends with a pair of zeros.
  if (count & 1) {
    store<f64>(REFERENCE_64 + (count << 3), 0)
    store<f64>(TARGET_64 + (count << 3), 0)
  }
  for (let at = 0, end = count << 3; at < end; at += 16) {
    const reference = v128.load(REFERENCE_64 + at)
    const target = v128.load(TARGET_64 + at)
    const difference = f64x2.sub(target, reference)
    const square = f64x2.mul(difference, difference)
    v128.store(DIFFERENCE_64 + at, difference)
    v128.store(SQUARES_64 + at, square)
    r = f64x2.add(r, reference)
    t = f64x2.add(t, target)
    d = f64x2.add(d, difference)
    rr = f64x2.add(rr, f64x2.mul(reference, reference))
    dd = f64x2.add(dd, square)
    dr = f64x2.add(dr, f64x2.mul(difference, reference))
  }
  put(SUM_R, total(r))
  put(SUM_D, total(d))
  put(SUM_RR, total(rr))
  put(SUM_DD, total(dd))
  put(SUM_DR, total(dr))
  put(SUM_NEIGHBOURS, neighbours(count, last))
  moments(REFERENCE_64, count, total(r), MOMENTS_REFERENCE)
  moments(TARGET_64, count, total(t), MOMENTS_TARGET)
}
