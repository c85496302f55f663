export { surveyWords } from './words'
import { ROW, RUN } from '../row-layout'

const RUN_BYTES: i32 = RUN << 2

/** Adding this rounds to a whole number, which then lies in the lowest bits. */
const ROUNDER: f64 = 6755399441055744
const LOG2E: f64 = 1.4426950408889634
const LN2_HIGH: f64 = 0.6931471803691238
const LN2_LOW: f64 = 1.9082149292705877e-10
/** Below, e^x counts as this little. */
const LEAST: f64 = -708

/** Coefficients of e^f from f² on, for |f| ≤ ln 2 / 2: 1/n!, whose next term is below 2^-46. */
const COEFFICIENTS: i32 = 0

/** Vector constants by way of memory: V8 makes them anew wherever they are used. */
function storeConstants(): void {
  let factorial: f64 = 1
  for (let n: i32 = 2; n < 11; n++) {
    factorial *= <f64>n
    v128.store(COEFFICIENTS + (n << 4), f64x2.splat(1 / factorial))
  }
  v128.store(COEFFICIENTS + 176, f64x2.splat(LOG2E))
  v128.store(COEFFICIENTS + 192, f64x2.splat(ROUNDER))
  v128.store(COEFFICIENTS + 208, f64x2.splat(LN2_HIGH))
  v128.store(COEFFICIENTS + 224, f64x2.splat(LN2_LOW))
  v128.store(COEFFICIENTS + 240, f64x2.splat(LEAST))
  v128.store(COEFFICIENTS + 256, f64x2.splat(1))
}

/** Writes the largest of every run behind the row; gives whether all numbers before `size` are finite. */
export function findPeaks(size: i32): bool {
  const runs = (size + RUN - 1) / RUN
  let peak = ROW + runs * RUN_BYTES
  // 0 where everything is finite, otherwise NaN.
  let doubt = f32x4.splat(0)
  const zero = f32x4.splat(0)
  const whole = size / RUN
  for (let run: i32 = 0, at = ROW; run < runs; run++, peak += 4) {
    let most = v128.load(at)
    for (const end = at + RUN_BYTES; at < end; at += 16) {
      const part = v128.load(at)
      most = f32x4.pmax(most, part)
      if (run < whole) doubt = f32x4.add(doubt, f32x4.mul(part, zero))
    }
    most = f32x4.pmax(most, v128.shuffle<i32>(most, most, 2, 3, 2, 3))
    most = f32x4.pmax(most, v128.shuffle<i32>(most, most, 1, 1, 1, 1))
    f32.store(peak, f32x4.extract_lane(most, 0))
  }
  let rest: f32 = 0
  for (let i: i32 = whole * RUN; i < size; i++) rest += f32.load(ROW + (i << 2)) * 0
  return !v128.any_true(f32x4.ne(doubt, zero)) && rest == 0
}

/** Σ e^(x − most) over a row without NaN of which `most` is the largest. */
export function sumExp(size: i32, most: f64): f64 {
  storeConstants()
  const base = f64x2.splat(most)
  let sum = f64x2.splat(0)
  let other = f64x2.splat(0)
  const end = ROW + ((size + RUN - 1) / RUN) * RUN_BYTES
  for (let at = ROW; at < end; at += 16) {
    const part = v128.load(at)
    sum = f64x2.add(sum, exp(f64x2.sub(v128.promote_low<f32>(part), base)))
    const high = v128.promote_low<f32>(v128.shuffle<i32>(part, part, 2, 3, 2, 3))
    other = f64x2.add(other, exp(f64x2.sub(high, base)))
  }
  sum = f64x2.add(sum, other)
  return f64x2.extract_lane(sum, 0) + f64x2.extract_lane(sum, 1)
}

@inline
function held(place: i32): v128 {
  return v128.load(COEFFICIENTS + place)
}

/** e^x for x ≤ 0: 2^k · e^f with k the whole number next to x / ln 2. */
@inline
function exp(given: v128): v128 {
  const x = f64x2.pmax(given, held(240))
  const shifted = f64x2.add(f64x2.mul(x, held(176)), held(192))
  const k = f64x2.sub(shifted, held(192))
  const f = f64x2.sub(f64x2.sub(x, f64x2.mul(k, held(208))), f64x2.mul(k, held(224)))
  const f2 = f64x2.mul(f, f)
  const f4 = f64x2.mul(f2, f2)
  // In pairs, so that not every product waits for the one before.
  const low = f64x2.add(f64x2.add(held(256), f), f64x2.mul(f2, f64x2.add(held(32), f64x2.mul(f, held(48)))))
  const middle = f64x2.add(f64x2.add(held(64), f64x2.mul(f, held(80))), f64x2.mul(f2, f64x2.add(held(96), f64x2.mul(f, held(112)))))
  const high = f64x2.add(f64x2.add(held(128), f64x2.mul(f, held(144))), f64x2.mul(f2, held(160)))
  const series = f64x2.add(low, f64x2.mul(f4, f64x2.add(middle, f64x2.mul(f4, high))))
  // The lowest bits of what was rounded are k; those of an exponent begin at 52.
  const power = i64x2.shl(i64x2.add(shifted, i64x2.splat(1023)), 52)
  return f64x2.mul(series, power)
}
