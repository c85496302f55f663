const MAGNITUDE = 0x7fff

/** Whether any float16 is subnormal: multiplying those is a hundred times slower on some processors. */
function hasSubnormals(from: i32, count: i32): bool {
  let found = i16x8.splat(0)
  const one = i16x8.splat(1)
  for (let end = from + (count << 1); from < end; from += 16) {
    const magnitude = v128.and(v128.load(from), i16x8.splat(<i16>MAGNITUDE))
    found = v128.or(found, i16x8.lt_u(i16x8.sub(magnitude, one), i16x8.splat(0x3ff)))
  }
  return v128.any_true(found)
}

// @ts-ignore: decorator
@inline
function withSign(value: v128, code: v128): v128 {
  const special = v128.and(f32x4.ge(value, f32x4.splat(65536)), i32x4.splat(0x7f800000))
  return v128.or(v128.or(value, special), i32x4.shl(v128.and(code, i32x4.splat(0x8000)), 16))
}

/** Shifts exponent and mantissa into place and multiplies by 2^112; exponents of nothing but ones stay that. */
export function decodeFloat16(from: i32, to: i32, count: i32): void {
  if (hasSubnormals(from, count)) return decodeSubnormals(from, to, count)
  const rebias = f32x4.splat(reinterpret<f32>(0x77800000))
  for (let end = from + (count << 1); from < end; from += 8, to += 16) {
    const code = v128.load_ext<u16>(from)
    const shifted = i32x4.shl(v128.and(code, i32x4.splat(MAGNITUDE)), 13)
    v128.store(to, withSign(f32x4.mul(shifted, rebias), code))
  }
}

function decodeSubnormals(from: i32, to: i32, count: i32): void {
  const rebias = i32x4.splat(112 << 23)
  const unit = f32x4.splat(5.960464477539063e-8) // 2^-24
  const infinity = i32x4.splat(0x7c00)
  for (let end = from + (count << 1); from < end; from += 8, to += 16) {
    const code = v128.load_ext<u16>(from)
    const magnitude = v128.and(code, i32x4.splat(MAGNITUDE))
    const normal = i32x4.add(i32x4.shl(magnitude, 13), rebias)
    const subnormal = f32x4.mul(v128.convert<i32>(magnitude), unit)
    const isNormal = i32x4.gt_s(magnitude, i32x4.splat(0x3ff))
    const isSpecial = i32x4.ge_s(magnitude, infinity)
    const value = v128.or(v128.bitselect(normal, subnormal, isNormal), v128.and(isSpecial, i32x4.splat(0x7f800000)))
    v128.store(to, v128.or(value, i32x4.shl(v128.and(code, i32x4.splat(0x8000)), 16)))
  }
}

export function decodeBfloat16(from: i32, to: i32, count: i32): void {
  for (let end = from + (count << 1); from < end; from += 8, to += 16) {
    v128.store(to, i32x4.shl(v128.load_ext<u16>(from), 16))
  }
}
