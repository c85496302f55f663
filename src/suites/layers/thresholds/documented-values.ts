import { groupBy } from '../../../domain/group.ts'
import type { LayerSample, Measured, Pooled, Unmeasured } from './layer-samples.ts'

/** How the other tool names its metrics of layers: in its document, and in later versions. */
export const DOCUMENTED_METRICS = ['abs_diff', 'cos_sim', 'cos_sim_avg', 'cos_sim_mean'] as const
export type DocumentedMetric = (typeof DOCUMENTED_METRICS)[number]

/** What the other tool gives for a layer over all calls, or why that was not measured. */
type DocumentedValue = number | Unmeasured

export interface DocumentedLayer {
  readonly name: string
  readonly values: Readonly<Record<DocumentedMetric, DocumentedValue>>
  /** What `cos_sim` is of. */
  readonly cosSim: 'signs' | 'rows'
}

/** The documented numbers of every layer, in the order in which they were first given. */
export function documentLayers(samples: readonly LayerSample[]): DocumentedLayer[] {
  return [...groupBy(samples, ({ name }) => name)].map(([name, calls]) => documentLayer(name, calls))
}

function documentLayer(name: string, calls: readonly LayerSample[]): DocumentedLayer {
  const norm = compute(
    calls.map(({ squares }) => squares),
    ({ sum }) => Math.sqrt(sum),
  )
  const mean = ({ sum, count }: Measured) => sum / count
  const signs = compute(
    calls.map((call) => call.signs),
    mean,
  )
  const rows = compute(
    calls.map((call) => call.rows),
    mean,
  )
  const cosSim = typeof signs === 'number' || typeof rows !== 'number' ? 'signs' : 'rows'
  return {
    name,
    values: {
      abs_diff: norm,
      cos_sim: cosSim === 'signs' ? signs : rows,
      cos_sim_avg: rows,
      cos_sim_mean: rows,
    },
    cosSim,
  }
}

/** Of all calls together: one that was not measured leaves nothing to be said of them. */
function compute(calls: readonly Pooled[], figure: (pooled: Measured) => number): DocumentedValue {
  const total = { sum: 0, count: 0 }
  for (const call of calls) {
    if ('why' in call) return call
    total.sum += call.sum
    total.count += call.count
  }
  return total.count === 0 ? { why: 'there are no values' } : figure(total)
}
