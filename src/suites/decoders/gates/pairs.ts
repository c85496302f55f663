import type { SequenceSummary } from './contract.ts'

/**
 * √ of a mean KL that roundings of float32 explain; a trained model of a million parameters has 7e-7 in float32
 * against float64, and 9e-3 in bfloat16. Below it nobody can say whose roundings they are.
 */
export const ROUNDING = 2 ** -18

/** Lowest ratio of a prompt, so that one on which the target is far better does not offset others. */
const LEAST_RATIO = 0.25

/** A prompt that target and baseline were led along with the same tokens. */
export interface Pair {
  /** Among the target's sequences. */
  readonly place: number
  readonly sequence: SequenceSummary
  readonly partner: SequenceSummary
  /** Errors of the two. */
  readonly target: number
  readonly baseline: number
  readonly logRatio: number
}

/** Sequences with the same prompt and the same reference's tokens; a prompt that comes twice counts once. */
export function pairUp(target: readonly SequenceSummary[], baseline: readonly SequenceSummary[]): Pair[] {
  const keyOf = ({ prompt, continuation }: SequenceSummary) => `${prompt} ${continuation}`
  const partners = new Map(baseline.map((sequence) => [keyOf(sequence), sequence]))
  const pairs = new Map<string, Pair>()
  for (const [place, sequence] of target.entries()) {
    const partner = partners.get(keyOf(sequence))
    const [t, b] = [sequence.error, partner?.error]
    if (!partner || t === null || b == null || Number.isNaN(t) || Number.isNaN(b)) continue
    const pair = { place, sequence, partner, target: t, baseline: b, logRatio: computeLogRatio(t, b) }
    if (!pairs.has(keyOf(sequence))) pairs.set(keyOf(sequence), pair)
  }
  return [...pairs.values()]
}

export function computeLogRatio(target: number, baseline: number): number {
  return Math.log(Math.max(Math.max(target, ROUNDING) / Math.max(baseline, ROUNDING), LEAST_RATIO))
}

export function countsAsMore({ target, baseline }: Pair): boolean {
  return target < ROUNDING || target < LEAST_RATIO * baseline
}
