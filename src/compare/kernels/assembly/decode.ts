import { held } from './constant'

const MAGNITUDE = 0x7fff
const SIGN = 0x8000
/** Of float32. */
const INFINITY = 0x7f800000

/** Whether any float16 is subnormal: multiplying those is a hundred times slower on some processors. */
function hasSubnormals(from: i32, count: i32): bool {
  let found = i16x8.splat(0)
  const one = held(i16x8.splat(1))
  const bits = held(i16x8.splat(<i16>MAGNITUDE))
  const least = held(i16x8.splat(0x3ff))
  for (let end = from + (count << 1); from < end; from += 16) {
    const magnitude = v128.and(v128.load(from), bits)
    found = v128.or(found, i16x8.lt_u(i16x8.sub(magnitude, one), least))
  }
  return v128.any_true(found)
}

/** Shifts exponent and mantissa into place and multiplies by 2^112; exponents of nothing but ones stay that. */
export function decodeFloat16(from: i32, to: i32, count: i32): void {
  if (hasSubnormals(from, count)) return decodeSubnormals(from, to, count)
  const rebias = held(i32x4.splat(0x77800000))
  const bits = held(i32x4.splat(MAGNITUDE))
  const sign = held(i32x4.splat(SIGN))
  const tooLarge = held(f32x4.splat(65536))
  const infinity = held(i32x4.splat(INFINITY))
  for (let end = from + (count << 1); from < end; from += 8, to += 16) {
    const code = v128.load_ext<u16>(from)
    const value = f32x4.mul(i32x4.shl(v128.and(code, bits), 13), rebias)
    const special = v128.and(f32x4.ge(value, tooLarge), infinity)
    v128.store(to, v128.or(v128.or(value, special), i32x4.shl(v128.and(code, sign), 16)))
  }
}

function decodeSubnormals(from: i32, to: i32, count: i32): void {
  const rebias = held(i32x4.splat(112 << 23))
  const unit = held(f32x4.splat(5.960464477539063e-8)) // 2^-24
  const bits = held(i32x4.splat(MAGNITUDE))
  const sign = held(i32x4.splat(SIGN))
  const largestSubnormal = held(i32x4.splat(0x3ff))
  const largest = held(i32x4.splat(0x7bff))
  const infinity = held(i32x4.splat(INFINITY))
  for (let end = from + (count << 1); from < end; from += 8, to += 16) {
    const code = v128.load_ext<u16>(from)
    const magnitude = v128.and(code, bits)
    const normal = i32x4.add(i32x4.shl(magnitude, 13), rebias)
    const subnormal = f32x4.mul(v128.convert<i32>(magnitude), unit)
    const value = v128.bitselect(normal, subnormal, i32x4.gt_s(magnitude, largestSubnormal))
    const special = v128.and(i32x4.gt_s(magnitude, largest), infinity)
    v128.store(to, v128.or(v128.or(value, special), i32x4.shl(v128.and(code, sign), 16)))
  }
}

export function decodeBfloat16(from: i32, to: i32, count: i32): void {
  for (let end = from + (count << 1); from < end; from += 8, to += 16) {
    v128.store(to, i32x4.shl(v128.load_ext<u16>(from), 16))
  }
}
