import type { SequenceSummary } from '../contract.ts'

const NONE = { mean: 0, max: 0 }

/** A summary with this error, and nothing else to say. */
export function sequence(prompt: number, error: number | null, more: Partial<SequenceSummary> = {}): SequenceSummary {
  return {
    prompt: String(prompt),
    continuation: '0',
    kept: 100,
    missing: 0,
    error,
    noise: error,
    nonFinite: { reference: 0, target: 0, first: -1 },
    worst: null,
    wrecked: 0,
    flips: 0,
    widestFlip: null,
    divergence: null,
    metrics: { ce: NONE, prob_mean: NONE, prob_std: NONE, diff_mean: NONE, kl: NONE, kl_tail: NONE },
    ...more,
  }
}
