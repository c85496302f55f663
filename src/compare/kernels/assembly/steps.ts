import { BLOCK } from '../layout'
import { held } from './constant'

/** Codes without their sign bit count steps from zero; those of the other sign lie on the other side of it. */
@inline
function ordered(bits: v128, magnitude: v128): v128 {
  const sign = i32x4.shr_s(bits, 31)
  return i32x4.sub(v128.xor(v128.and(bits, magnitude), sign), sign)
}

/** Most steps between both. */
export function stepsBetween(r: i32, t: i32): u32 {
  let most = i32x4.splat(0)
  const magnitude = held(i32x4.splat(0x7fffffff))
  for (let end = r + (BLOCK << 2); r < end; r += 16, t += 16) {
    const a = ordered(v128.load(r), magnitude)
    const b = ordered(v128.load(t), magnitude)
    const distance = i32x4.sub(i32x4.max_s(a, b), i32x4.min_s(a, b))
    most = i32x4.max_u(most, distance)
  }
  const first = max(<u32>i32x4.extract_lane(most, 0), <u32>i32x4.extract_lane(most, 1))
  return max(first, max(<u32>i32x4.extract_lane(most, 2), <u32>i32x4.extract_lane(most, 3)))
}

/** As stepsBetween, of codes of 16 bits. */
export function halfStepsBetween(r: i32, t: i32): u32 {
  let most = i16x8.splat(0)
  const magnitude = held(i16x8.splat(0x7fff))
  for (let end = r + (BLOCK << 1); r < end; r += 16, t += 16) {
    const x = v128.load(r)
    const y = v128.load(t)
    const s = i16x8.shr_s(x, 15)
    const u = i16x8.shr_s(y, 15)
    const a = i16x8.sub(v128.xor(v128.and(x, magnitude), s), s)
    const b = i16x8.sub(v128.xor(v128.and(y, magnitude), u), u)
    most = i16x8.max_u(most, i16x8.sub(i16x8.max_s(a, b), i16x8.min_s(a, b)))
  }
  const low = v128.and(most, i32x4.splat(0xffff))
  const wide = i32x4.max_u(low, i32x4.shr_u(most, 16))
  const first = max(<u32>i32x4.extract_lane(wide, 0), <u32>i32x4.extract_lane(wide, 1))
  return max(first, max(<u32>i32x4.extract_lane(wide, 2), <u32>i32x4.extract_lane(wide, 3)))
}
