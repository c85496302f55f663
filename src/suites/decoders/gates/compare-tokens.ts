import type { Divergence, KeptStep, TokenMetrics } from './contract.ts'

/** How many tokens count: those before the reference's first end-of-sequence token, or all. */
export function keptCount(reference: readonly Pick<KeptStep, 'token'>[], eos: readonly number[]): number {
  const end = reference.findIndex(({ token }) => token !== null && eos.includes(token))
  return end < 0 ? reference.length : end
}

/**
 * The first step at which the target chooses another token; null: none. Up to there a target that is led along the
 * reference's tokens sees what it would see alone, so that is where greedy decoding parts.
 *
 * `noise` is a typical error of a logit, measured elsewhere. At the divergence itself it must not be measured: no flip
 * happens without an error of half the gap, so that every flip would be a near tie.
 */
export function firstDivergence(
  reference: readonly KeptStep[],
  target: readonly KeptStep[],
  metrics: readonly TokenMetrics[],
  noise: number | null,
): Divergence | null {
  const step = metrics.findIndex(({ agrees }) => !agrees)
  const found = metrics[step]
  if (!found) return null
  const ids = { reference: reference[step]?.chosen ?? null, target: target[step]?.chosen ?? null }
  return { step, ...ids, flip: found.flip, isNearTie: isNearTie(found, noise) }
}

/** An error each way on both tokens, none of them over the noise, brings the two together. */
function isNearTie({ flip }: TokenMetrics, noise: number | null): boolean | null {
  if (flip === null) return false
  return noise === null ? null : !flip.isBeyond && flip.referenceGap <= 2 * noise
}
