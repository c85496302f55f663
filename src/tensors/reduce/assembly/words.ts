import { WORDS } from '../word-layout'

/** Of 32-bit words without their highest bit: 2^16 · the largest one + how many are 0; `count` is a multiple of 4. */
export function surveyWords(count: i32): f64 {
  const bits = i32x4.splat(0x7fffffff)
  const zero = i32x4.splat(0)
  let most = zero
  let zeros = zero
  for (let at = WORDS, end = at + (count << 2); at < end; at += 16) {
    const code = v128.and(v128.load(at), bits)
    most = i32x4.max_s(most, code)
    zeros = i32x4.sub(zeros, i32x4.eq(code, zero))
  }
  most = i32x4.max_s(most, v128.shuffle<i32>(most, most, 2, 3, 2, 3))
  most = i32x4.max_s(most, v128.shuffle<i32>(most, most, 1, 1, 1, 1))
  zeros = i32x4.add(zeros, v128.shuffle<i32>(zeros, zeros, 2, 3, 2, 3))
  zeros = i32x4.add(zeros, v128.shuffle<i32>(zeros, zeros, 1, 1, 1, 1))
  return <f64>i32x4.extract_lane(most, 0) * 65536 + <f64>i32x4.extract_lane(zeros, 0)
}
