const LOG2E: f32 = 1.4426950408889634
/** Adding this rounds to a whole number, which then lies in the lowest bits. */
const ROUNDER: f32 = 12582912
const LN2_HIGH: f32 = 0.693145751953125
const LN2_LOW: f32 = 1.428606820309417e-6

/** More constants than there are registers, in memory; see constant.ts. */
const CONSTANTS: i32 = 512
export const ONE: i32 = CONSTANTS
const HALF: i32 = CONSTANTS + 16
const INVERSE_LN2: i32 = CONSTANTS + 32
const WHOLE: i32 = CONSTANTS + 48
const HIGH: i32 = CONSTANTS + 64
const LOW: i32 = CONSTANTS + 80
/** Coefficients of e^f − 1 − f from f³ on, the best of their degree for |f| ≤ ln 2 / 2. */
const CURVE: i32 = CONSTANTS + 96
/** The same for |x| ≤ 0.25: those of the series but for the fifth, which makes up for what is cut off. */
const SHORT_CURVE: i32 = CONSTANTS + 160
/** ROUNDER for weights, less by the power of two that they are counted in. */
const WEIGHT_WHOLE: i32 = CONSTANTS + 224

export function storeConstants(): void {
  v128.store(ONE, f32x4.splat(1))
  v128.store(HALF, f32x4.splat(0.5))
  v128.store(INVERSE_LN2, f32x4.splat(LOG2E))
  v128.store(WHOLE, f32x4.splat(ROUNDER))
  v128.store(HIGH, f32x4.splat(LN2_HIGH))
  v128.store(LOW, f32x4.splat(LN2_LOW))
  v128.store(CURVE, f32x4.splat(0.16666576266288757))
  v128.store(CURVE, f32x4.splat(0.041666556149721146), 16)
  v128.store(CURVE, f32x4.splat(0.008363177999854088), 32)
  v128.store(CURVE, f32x4.splat(0.0013926181709393859), 48)
  v128.store(SHORT_CURVE, f32x4.splat(0.1666666716337204))
  v128.store(SHORT_CURVE, f32x4.splat(0.0416666679084301), 16)
  v128.store(SHORT_CURVE, f32x4.splat(0.00834133), 32)
  v128.store(SHORT_CURVE, f32x4.splat(0.0013888889225199819), 48)
}

/** weightOf gives e^t / 2^n from here on, with 2^n near e^peak. Returns the logarithm of 2^n / e^peak. */
export function countWeightsFrom(peak: f32): f64 {
  const power = nearest<f32>(peak * LOG2E)
  v128.store(WEIGHT_WHOLE, f32x4.splat(ROUNDER - power))
  return <f64>power * NativeMath.LN2 - <f64>peak
}

/** The whole number nearest to x / ln 2, in the lowest bits. */
@inline
export function roundedOf(x: v128, rounder: v128 = v128.load(WHOLE)): v128 {
  return f32x4.add(f32x4.mul(x, v128.load(INVERSE_LN2)), rounder)
}

/** What is left of x after that many multiples of ln 2. */
@inline
export function reduce(x: v128, rounded: v128, rounder: v128 = v128.load(WHOLE)): v128 {
  const whole = f32x4.sub(rounded, rounder)
  const rest = f32x4.sub(x, f32x4.mul(whole, v128.load(HIGH)))
  return f32x4.sub(rest, f32x4.mul(whole, v128.load(LOW)))
}

/** (e^f − 1 − f) / f² */
@inline
export function curve(f: v128): v128 {
  const last = f32x4.add(f32x4.mul(v128.load(CURVE, 48), f), v128.load(CURVE, 32))
  const middle = f32x4.add(f32x4.mul(last, f), v128.load(CURVE, 16))
  return f32x4.add(f32x4.mul(f32x4.add(f32x4.mul(middle, f), v128.load(CURVE)), f), v128.load(HALF))
}

/** The same where the square of x is at most SHORT. */
@inline
export function shortCurve(x: v128, square: v128): v128 {
  const first = f32x4.add(f32x4.mul(x, v128.load(SHORT_CURVE)), v128.load(HALF))
  const middle = f32x4.add(f32x4.mul(x, v128.load(SHORT_CURVE, 32)), v128.load(SHORT_CURVE, 16))
  const last = f32x4.add(f32x4.mul(square, v128.load(SHORT_CURVE, 48)), middle)
  return f32x4.add(f32x4.mul(square, last), first)
}

/** e^t / 2^n for t from 70 below the peak up to it. */
@inline
export function weightOf(t: v128): v128 {
  const rounder = v128.load(WEIGHT_WHOLE)
  const rounded = roundedOf(t, rounder)
  const f = reduce(t, rounded, rounder)
  const slope = f32x4.add(f32x4.mul(curve(f), f), v128.load(ONE))
  const mantissa = f32x4.add(f32x4.mul(slope, f), v128.load(ONE))
  return i32x4.add(mantissa, i32x4.shl(rounded, 23))
}
