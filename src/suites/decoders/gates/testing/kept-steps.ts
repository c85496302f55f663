import { largestIds } from '../../../../compare/largest-ids.ts'
import type { KeptStep } from '../contract.ts'

/** What a trace keeps of these logits; of a target, also those at the reference's ids. */
export function keptStep(logits: readonly number[], topK: number, reference?: KeptStep): KeptStep {
  const row = Float32Array.from(logits)
  const ids = largestIds(row, topK)
  const pick = (wanted: readonly number[]) => Float32Array.from(wanted, (id) => row[id]!)
  const most = row[ids[0] ?? 0]!
  const count = (is: (logit: number) => boolean) => logits.filter(is).length
  return {
    token: ids[0] ?? null,
    chosen: ids[0] ?? null,
    logSumExp: most + Math.log(logits.reduce((sum, logit) => sum + Math.exp(logit - most), 0)),
    nonFinite: {
      nan: count(Number.isNaN),
      positiveInfinity: count((logit) => logit === Number.POSITIVE_INFINITY),
      negativeInfinity: count((logit) => logit === Number.NEGATIVE_INFINITY),
    },
    top: { ids, logits: pick(ids) },
    ...(reference && { at: pick(reference.top.ids) }),
  }
}

/** The steps of one sequence on both sides. */
export function keptPair(
  reference: readonly (readonly number[])[],
  target: readonly (readonly number[])[],
  topK: number,
): { reference: KeptStep[]; target: KeptStep[] } {
  const steps = reference.map((logits) => keptStep(logits, topK))
  return { reference: steps, target: target.map((logits, i) => keptStep(logits, topK, steps[i])) }
}
