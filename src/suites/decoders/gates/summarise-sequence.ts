import { median } from '../../../compare/statistics/percentile.ts'
import { firstDivergence, keptCount } from './compare-tokens.ts'
import {
  boundSteps,
  type KeptStep,
  METRICS,
  type PlaceInBatch,
  type SequenceSummary,
  type TokenMetrics,
} from './contract.ts'
import { tokenMetrics } from './token-metrics.ts'

/** One prompt, decoded by the reference and by a target that was led along the reference's tokens. */
export interface DecodedPair {
  /** Digest of the prompt's token ids. */
  readonly prompt: string
  readonly reference: readonly KeptStep[]
  readonly target: readonly KeptStep[]
  readonly eos: readonly number[]
  readonly place?: PlaceInBatch
}

export interface MeasuredSequence {
  /** Of the tokens that are kept. */
  readonly tokens: readonly TokenMetrics[]
  readonly summary: SequenceSummary
}

/**
 * Metrics of the tokens before the reference's end; choices are compared at the end too, where a target that would go
 * on differs. `noise` is a typical error of a logit; without it, this target's own.
 */
export function measureSequence(pair: DecodedPair, noise: number | null = null): MeasuredSequence {
  const { reference, target } = pair
  const kept = keptCount(reference, pair.eos)
  const judged = Math.min(kept + 1, reference.length, target.length)
  const all = Array.from({ length: judged }, (_, step) => tokenMetrics(reference[step]!, target[step]!))
  const tokens = all.slice(0, kept)
  const finite = tokens.filter(({ nonFinite }) => nonFinite === null)
  const ownNoise = median(finite.map(({ logError }) => logError))
  const summary = {
    prompt: pair.prompt,
    continuation: fingerprint(reference.slice(0, kept).map(({ token }) => token)),
    kept,
    missing: kept - tokens.length,
    error: tokens.length === 0 ? null : errorOf(tokens),
    spans: errorsOfSpans(tokens),
    ...(pair.place && { place: pair.place }),
    noise: ownNoise,
    nonFinite: countNonFinite(all),
    worst: worstOf(all),
    wrecked: tokens.filter(({ moved }) => moved > 0.5).length,
    flips: all.filter(({ agrees }) => !agrees).length,
    widestFlip: widestOf(all),
    divergence: firstDivergence(reference, target, all, noise ?? ownNoise),
    metrics: metricsOf(tokens),
  }
  return { tokens, summary }
}

/** KL grows with the square of the noise of the logits. */
function errorOf(tokens: readonly TokenMetrics[]): number {
  return Math.sqrt(meanOf(tokens.map(({ klTail }) => klTail)))
}

function errorsOfSpans(tokens: readonly TokenMetrics[]): number[] {
  const errors: number[] = []
  for (let { from, to } = boundSteps(0); from < tokens.length; { from, to } = boundSteps(errors.length)) {
    errors.push(errorOf(tokens.slice(from, to + 1)))
  }
  return errors
}

function countNonFinite(all: readonly TokenMetrics[]): SequenceSummary['nonFinite'] {
  const count = (side: string) => all.filter(({ nonFinite }) => nonFinite === side).length
  const first = all.findIndex(({ nonFinite }) => nonFinite !== null)
  return { reference: count('reference'), target: count('target'), first }
}

function worstOf(all: readonly TokenMetrics[]): SequenceSummary['worst'] {
  const step = placeOfMost(all.map(({ klTail }) => klTail))
  const found = all[step]
  if (!found) return null
  const { klTail, referenceTail, targetTail, overlap, rank } = found
  return { step, klTail, referenceTail, targetTail, overlap, rank }
}

function widestOf(all: readonly TokenMetrics[]): SequenceSummary['widestFlip'] {
  const step = placeOfMost(all.map(({ flip }) => flip?.referenceGap ?? Number.NaN))
  const flip = all[step]?.flip
  return flip ? { step, ...flip } : null
}

/** The first of the largest, NaN aside; −1: there is none. */
function placeOfMost(values: readonly number[]): number {
  return values.reduce((best, value, i) => (value > (values[best] ?? Number.NEGATIVE_INFINITY) ? i : best), -1)
}

function metricsOf(tokens: readonly TokenMetrics[]): SequenceSummary['metrics'] {
  const named = { ...METRICS, kl: 'kl', kl_tail: 'klTail' } as const
  const pairs = Object.entries(named).map(([name, key]) => {
    const values = tokens.map((token) => token[key])
    return [
      name,
      { mean: meanOf(values), max: values.reduce((most, value) => Math.max(most, value), values[0] ?? Number.NaN) },
    ]
  })
  return Object.fromEntries(pairs) as SequenceSummary['metrics']
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

/** FNV-1a over the ids; only tells sequences apart. */
function fingerprint(ids: readonly (number | null)[]): string {
  let hash = 0x811c9dc5
  for (const byte of ids.join(',')) hash = Math.imul(hash ^ byte.charCodeAt(0), 0x01000193)
  return (hash >>> 0).toString(16).padStart(8, '0')
}
