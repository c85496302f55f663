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

@inline
export function largestOf(values: v128): f32 {
  const a = f32x4.extract_lane(values, 0)
  const b = f32x4.extract_lane(values, 1)
  const c = f32x4.extract_lane(values, 2)
  const d = f32x4.extract_lane(values, 3)
  const ab = a < b ? b : a
  const cd = c < d ? d : c
  return ab < cd ? cd : ab
}
