import { formatNumber } from '../../../domain/text.ts'
import type { SequenceSummary } from './contract.ts'
import type { GuardFinding } from './gates.ts'

/** No rounding moves a token that far in nats; a baseline that does excuses this many times as much. */
const TOKEN_KL = 1
const TOKEN_KL_TIMES = 32
/** e³: the reference holds its own token for twenty times as likely. */
const FLIP_GAP = 3
const FLIP_GAP_TIMES = 10
/** Limits for wrecked tokens: of all tokens, and of one sequence, which needs a minimum of tokens. */
const WRECKED = 0.01
const WRECKED_TIMES = 4
const WRECKED_IN_ONE = 0.25
const LEAST_WRECKED = 4

/** What single tokens of a trusted baseline do. */
export interface TokenNoise {
  readonly worstKl: number
  readonly widestGap: number
  /** The part of all tokens at which more than half of the probability moves, were there a few more of them. */
  readonly wrecked: number
}

export function tokenNoise(baseline: readonly SequenceSummary[]): TokenNoise {
  const most = (values: readonly (number | undefined)[]) => values.reduce<number>((a, b) => Math.max(a, b ?? 0), 0)
  return {
    worstKl: most(baseline.map(({ worst }) => worst?.klTail)),
    widestGap: most(baseline.map(({ widestFlip }) => widestFlip?.referenceGap)),
    wrecked: wreckedPart(baseline, LEAST_WRECKED),
  }
}

/**
 * What decides whatever the averages are, under every gate. Without a baseline (`noise` is null) nobody knows how far
 * a healthy target's single tokens go, so that it takes several of them.
 */
export function guardFindings(sequences: readonly SequenceSummary[], noise: TokenNoise | null): GuardFinding[] {
  const always = [brokenReference, short, keptNothing, nonFinite].map((guard) => guard(sequences))
  const single = noise ? [wreckedToken(sequences, noise), wideFlip(sequences, noise)] : [wreckedSequence(sequences)]
  return [...always, ...single, wreckedTokens(sequences, noise)].filter((finding) => finding !== null)
}

type Found = GuardFinding | null

function brokenReference(sequences: readonly SequenceSummary[]): Found {
  return findingOf(
    sequences,
    'broken-reference',
    'error',
    ({ nonFinite }) => nonFinite.reference,
    (sequence, total) => ({
      step: sequence.nonFinite.first,
      reason: `the reference gives NaN or infinite logits at ${total} ${tokens(total)}; fix or change the reference`,
    }),
  )
}

function short(sequences: readonly SequenceSummary[]): Found {
  return findingOf(
    sequences,
    'short',
    'error',
    ({ missing }) => missing,
    ({ kept, missing }, total) => ({
      step: kept - missing,
      reason: `the target gives nothing for ${total} of the tokens that it was asked for`,
    }),
  )
}

function keptNothing(sequences: readonly SequenceSummary[]): Found {
  if (sequences.some(({ kept }) => kept > 0)) return null
  const reason =
    sequences.length === 0
      ? 'there are no sequences to judge'
      : 'no token was kept: the reference ends every sequence immediately; give other prompts'
  return { kind: 'kept-nothing', verdict: 'error', sequence: 0, step: null, count: sequences.length, reason }
}

function nonFinite(sequences: readonly SequenceSummary[]): Found {
  return findingOf(
    sequences,
    'non-finite',
    'fail',
    ({ nonFinite }) => nonFinite.target,
    (sequence, total) => ({
      step: sequence.nonFinite.first,
      reason: `the target gives NaN or infinite logits at ${total} ${tokens(total)}, where the reference does not`,
    }),
  )
}

function wreckedToken(sequences: readonly SequenceSummary[], noise: TokenNoise): Found {
  const limit = Math.max(TOKEN_KL, TOKEN_KL_TIMES * noise.worstKl)
  const excess = ({ worst }: SequenceSummary) => (worst !== null && worst.klTail > limit ? worst.klTail : 0)
  return findingOf(sequences, 'token', 'fail', excess, ({ worst }) => {
    const { step, klTail, referenceTail, targetTail, rank } = worst!
    const place = rank === null ? "not among the target's largest" : `at rank ${rank} of the target`
    const outside = `${percent(targetTail)} of its probability lies outside the reference's largest (${percent(referenceTail)} in the reference)`
    const what = `KL ${formatNumber(klTail)} at one token, more than any noise explains (limit ${formatNumber(limit)})`
    return { step, reason: `${what}: ${outside}, the reference's choice is ${place}` }
  })
}

function wideFlip(sequences: readonly SequenceSummary[], noise: TokenNoise): Found {
  const limit = Math.max(FLIP_GAP, FLIP_GAP_TIMES * noise.widestGap)
  const excess = ({ widestFlip: flip }: SequenceSummary) => (flip && flip.referenceGap > limit ? flip.referenceGap : 0)
  return findingOf(sequences, 'flip', 'fail', excess, ({ widestFlip }) => {
    const { step, referenceGap, isBeyond } = widestFlip!
    const gap = `${isBeyond ? 'more than ' : ''}${formatNumber(referenceGap)}`
    const reason = `the target chooses another token where the reference is sure: the reference gives its own choice ${gap} logits more (limit ${formatNumber(limit)})`
    return { step, reason }
  })
}

function wreckedPart(sequences: readonly SequenceSummary[], more = 0): number {
  const total = (key: 'kept' | 'wrecked') => sequences.reduce((sum, sequence) => sum + sequence[key], 0)
  return total('kept') === 0 ? 0 : (total('wrecked') + more) / total('kept')
}

function wreckedTokens(sequences: readonly SequenceSummary[], noise: TokenNoise | null): Found {
  const limit = Math.max(WRECKED, WRECKED_TIMES * (noise?.wrecked ?? 0))
  const part = wreckedPart(sequences)
  if (part < limit) return null
  const weigh = ({ wrecked }: SequenceSummary) => wrecked
  return findingOf(sequences, 'tokens', 'fail', weigh, ({ worst }) => ({
    step: worst!.step,
    reason: `more than half of the probability lies elsewhere at ${percent(part)} of the tokens (limit ${percent(limit)})`,
  }))
}

function wreckedSequence(sequences: readonly SequenceSummary[]): Found {
  const weigh = ({ wrecked, kept }: SequenceSummary) =>
    wrecked >= LEAST_WRECKED && wrecked >= WRECKED_IN_ONE * kept ? wrecked / kept : 0
  return findingOf(sequences, 'sequence', 'fail', weigh, ({ worst, wrecked, kept }) => ({
    step: worst!.step,
    reason: `more than half of the probability lies elsewhere at ${wrecked} of ${kept} tokens of one sequence`,
  }))
}

/** The worst of the sequences that have a weight; null: none has. */
function findingOf(
  sequences: readonly SequenceSummary[],
  kind: GuardFinding['kind'],
  verdict: GuardFinding['verdict'],
  weigh: (sequence: SequenceSummary) => number,
  describe: (worst: SequenceSummary, total: number) => { step: number; reason: string },
): Found {
  const weights = sequences.map(weigh)
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  if (!(total > 0)) return null
  const worst = weights.indexOf(Math.max(...weights))
  const { step, reason } = describe(sequences[worst]!, total)
  const place = `sequence ${worst}, token ${step}`
  const count = weights.filter((weight) => weight > 0).length
  return { kind, verdict, sequence: worst, step, count, reason: `${reason}; ${place}` }
}

const tokens = (count: number) => (count === 1 ? 'token' : 'tokens')
const percent = (part: number) => `${formatNumber(100 * part, 3)} %`
