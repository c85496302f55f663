import type { LogitsRow } from '../../compare/logits.ts'
import type { Metric } from '../../domain/result.ts'
import { compareLogitTensors } from '../../files/parallel/compare-logits.ts'
import type { DecodedBatches } from './decoded-batches.ts'

/** Metrics over the whole vocabulary, where both sides kept all logits. */
export async function wholeVocabulary({ batches, target }: DecodedBatches): Promise<Metric[]> {
  const rows: LogitsRow[] = []
  let place = 0
  for (const { reference, followers } of batches) {
    const [r, t] = [reference.trace.logits, followers[0]?.trace.logits]
    const batch = reference.trace.sequences.length
    if (!r || !t) return []
    const kept = target.slice(place, place + batch).map(({ summary }) => summary.kept)
    place += batch
    const found = await compareLogitTensors(r, t, 1)
    rows.push(...found.filter((_, row) => Math.floor(row / batch) < kept[row % batch]!))
  }
  return rows.length === 0 ? [] : metricsOf(rows)
}

function metricsOf(rows: readonly LogitsRow[]): Metric[] {
  const metric = (name: string, values: readonly number[]): Metric => ({
    name,
    direction: 'lower',
    value: values.reduce((sum, value) => sum + value, 0) / values.length,
    count: values.length,
  })
  return [
    metric(
      'full_ce_mean',
      rows.map(({ full }) => full.crossEntropy),
    ),
    metric(
      'full_kl_mean',
      rows.map(({ full }) => full.kl),
    ),
    metric(
      'full_diff_mean_mean',
      rows.map(({ full }) => full.diffMean),
    ),
    metric(
      'full_prob_mean_mean',
      rows.map(({ full }) => full.probMean),
    ),
    metric(
      'full_prob_std_mean',
      rows.map(({ full }) => full.probStd),
    ),
  ]
}
