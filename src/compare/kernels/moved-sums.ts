import type { LogitRows, RowSums } from './logits-contract.ts'
import { curve } from './token-sums.ts'

const SAMPLE = 33

/** What r − t is about: the median of some tokens, so that what is wild moves it little. */
export function middleDifference({ reference, target }: LogitRows): number {
  const every = Math.max(1, Math.floor(reference.length / SAMPLE))
  const count = Math.min(SAMPLE, reference.length)
  const some = new Float32Array(count)
  for (let i = 0; i < count; i++) some[i] = reference[i * every]! - target[i * every]!
  return some.sort()[count >> 1]!
}

/** Sums of `count` tokens with x counted from a middle, as those with x − `move`. Nothing that is nearly equal is subtracted. */
export function moveSums(sums: RowSums, count: number, move: number): RowSums {
  const { weight, weightTarget, weightDifference, weightCurve, ratio, ratioSquared } = sums
  const [less, more] = [Math.exp(-move), Math.expm1(-move)]
  return {
    weight,
    weightTarget,
    weightDifference: weightDifference - move * weight,
    weightCurve: less * weightCurve + more * weightDifference + curve(-move, more) * weight,
    ratio: less * ratio + more * count,
    ratioSquared: less * less * ratioSquared + 2 * more * less * ratio + more * more * count,
  }
}
