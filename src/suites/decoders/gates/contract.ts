import type { Logits } from '../../../domain/logits.ts'
import type { Side } from '../../../domain/verdict.ts'

/** What one side gave at one step of one sequence, as far as a trace keeps it. */
export interface KeptStep {
  /** What was appended. */
  readonly token: number | null
  /** Its own largest logit, the lowest id among equals. */
  readonly chosen: number | null
  /** Over all logits. */
  readonly logSumExp: number
  readonly nonFinite: { readonly nan: number; readonly positiveInfinity: number; readonly negativeInfinity: number }
  /** The largest, largest first. */
  readonly top: { readonly ids: readonly number[]; readonly logits: Logits }
  /** Of the target: its logits at the reference's top ids, in their order. */
  readonly at?: Logits
}

/**
 * How far the target is from the reference at one token. p and q are the probabilities of reference and target; the
 * first five are over the reference's K largest logits alone, as if there were no others.
 */
export interface TokenMetrics {
  /** −Σ q·ln p: the entropy of q where both are equal, and not 0. */
  readonly ce: number
  /** Mean and sample standard deviation of p/q − 1. */
  readonly probMean: number
  readonly probStd: number
  /** Mean of |p − q|. */
  readonly diffMean: number
  /** Σ q·ln(q/p), what `ce` is more than the entropy of q. */
  readonly kl: number
  /** The same over K + 1 buckets with the probabilities of the whole vocabulary; the last holds all other tokens. */
  readonly klTail: number
  /** How much of the probability lies in another of these buckets, from 0 to 1. */
  readonly moved: number
  /** The mass of the last bucket on both sides. */
  readonly referenceTail: number
  readonly targetTail: number
  /** The largest |ln p − ln q| at the reference's top ids, over the whole vocabulary. */
  readonly logError: number
  /** Both have the same largest logit. */
  readonly agrees: boolean
  /** How many of the reference's top ids are among the target's. */
  readonly overlap: number
  /** Where the reference's choice stands on the target's side, from 1; null: beyond what was kept. */
  readonly rank: number | null
  /** Where they choose differently. */
  readonly flip: Flip | null
  /** The side with logits that are no numbers, in which case there are no numbers here either. */
  readonly nonFinite: Side | null
}

/** The two sides choose different tokens. */
export interface Flip {
  /** How much more the reference gives its own choice than the target's, in logits. */
  readonly referenceGap: number
  /** The target's choice is beyond what was kept of the reference, so that the gap is larger than said. */
  readonly isBeyond: boolean
  /** How much more the target gives its own choice than the reference's. */
  readonly targetGap: number
}

/** Where greedy decoding of the two sides parts. */
export interface Divergence {
  readonly step: number
  /** null: no logit is a number. */
  readonly reference: number | null
  readonly target: number | null
  readonly flip: Flip | null
  /** The reference's gap is within what noise explains; null: nobody knows the noise. */
  readonly isNearTie: boolean | null
}

/** Metrics with a file of their own, as those are named, and a place in `TokenMetrics`. */
export const METRICS = { ce: 'ce', prob_mean: 'probMean', prob_std: 'probStd', diff_mean: 'diffMean' } as const
export type MetricName = keyof typeof METRICS

/** What is left of a sequence when its tokens are gone. */
export interface SequenceSummary {
  /** Of the prompt's token ids. */
  readonly prompt: string
  /** Of the reference's tokens that were kept: equal where both were led the same way. */
  readonly continuation: string
  /** Tokens before the reference's end of sequence. */
  readonly kept: number
  /** How many of them the target gave nothing for. */
  readonly missing: number
  /** √ of the mean of `klTail` over the kept tokens; NaN: one of them is not finite. null: none was kept. */
  readonly error: number | null
  /** The same over spans of tokens, see `boundSteps`; absent in files of older versions. */
  readonly spans?: readonly number[] | undefined
  /** Its row of the batch, and how many padded positions lie before the prompt; absent where nobody knows. */
  readonly place?: PlaceInBatch | undefined
  /** The median of `logError`. */
  readonly noise: number | null
  /** The first of them; −1: none. A sequence's tokens are counted from 0. */
  readonly nonFinite: { readonly reference: number; readonly target: number; readonly first: number }
  readonly worst: WorstToken | null
  /** Kept tokens at which more than half of the probability has moved. */
  readonly wrecked: number
  /** Choices that differ, and the one that the reference was surest of. */
  readonly flips: number
  readonly widestFlip: WidestFlip | null
  readonly divergence: Divergence | null
  /** Over the kept tokens. */
  readonly metrics: Readonly<Record<MetricName | 'kl' | 'kl_tail', { readonly mean: number; readonly max: number }>>
}

export interface PlaceInBatch {
  readonly row: number
  readonly padded: number
}

/** Spans double in length: 0, 1 to 2, 3 to 6, 7 to 14 … The first token is what the prompt is read for. */
export function boundSteps(index: number): { readonly from: number; readonly to: number } {
  return { from: 2 ** index - 1, to: 2 ** (index + 1) - 2 }
}

/** The token with the largest `klTail`, and what else is odd about it. */
interface WorstToken extends Pick<TokenMetrics, 'klTail' | 'referenceTail' | 'targetTail' | 'overlap' | 'rank'> {
  readonly step: number
}

interface WidestFlip extends Flip {
  readonly step: number
}
