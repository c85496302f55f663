/** Adds four float32 lanes to two float64 ones. */
@inline
export function widen(sum: v128, part: v128): v128 {
  const high = v128.promote_low<f32>(v128.shuffle<i32>(part, part, 2, 3, 2, 3))
  return f64x2.add(sum, f64x2.add(v128.promote_low<f32>(part), high))
}

@inline
export function total(sum: v128): f64 {
  return f64x2.extract_lane(sum, 0) + f64x2.extract_lane(sum, 1)
}

/** Without a branch: which lane is larger can't be foretold. */
@inline
export function largestOf(values: v128): f32 {
  const pairs = f32x4.pmax(values, v128.shuffle<i32>(values, values, 1, 1, 3, 3))
  return f32x4.extract_lane(f32x4.pmax(pairs, v128.shuffle<i32>(pairs, pairs, 2, 2, 2, 2)), 0)
}
