import { FLOAT16, FLOAT32, REFERENCE_32, REFERENCE_CHUNK, TARGET_32 } from '../layout'
import { held } from './constant'
import { decodeBfloat16, decodeFloat16 } from './decode'
import { largestOf } from './lanes'

/** Largest finite magnitude of the reference's chunk. */
export function largest(kind: i32, count: i32): f64 {
  let at: i32 = REFERENCE_CHUNK
  if (kind == FLOAT32) {
    const infinity = held(i32x4.splat(0x7f800000))
    const bits = held(i32x4.splat(0x7fffffff))
    let most = i32x4.splat(0)
    for (let end = at + (count << 2); at < end; at += 16) {
      const magnitude = v128.and(v128.load(at), bits)
      most = i32x4.max_s(most, v128.and(magnitude, i32x4.lt_s(magnitude, infinity)))
    }
    return <f64>largestOf(most)
  }
  const infinity = i16x8.splat(kind == FLOAT16 ? 0x7c00 : 0x7f80)
  const bits = held(i16x8.splat(0x7fff))
  let most = i16x8.splat(0)
  for (let end = at + (count << 1); at < end; at += 16) {
    const magnitude = v128.and(v128.load(at), bits)
    most = i16x8.max_s(most, v128.and(magnitude, i16x8.lt_s(magnitude, infinity)))
  }
  v128.store(REFERENCE_32, most)
  if (kind == FLOAT16) decodeFloat16(REFERENCE_32, TARGET_32, 8)
  else decodeBfloat16(REFERENCE_32, TARGET_32, 8)
  return <f64>largestOf(f32x4.pmax(v128.load(TARGET_32), v128.load(TARGET_32, 16)))
}
