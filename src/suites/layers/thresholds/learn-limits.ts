import { LayerMeter } from '../../../compare/layers/layer-meter.ts'
import { layerMetrics } from '../../../compare/layers/layer-metrics.ts'
import { percentile, sorted } from '../../../compare/statistics/percentile.ts'
import { groupBy } from '../../../domain/group.ts'
import type { LayerSample } from './layer-samples.ts'
import type { LayerLimit, LimitedLayer } from './layer-thresholds.ts'

/** A tail of the baseline, on the bad side of each metric. */
const TAILS = { lower: { statistic: 'p99', percent: 99 }, higher: { statistic: 'p1', percent: 1 } } as const

/** Whether less or more of a metric is better. */
const DIRECTIONS: ReadonlyMap<string, LayerLimit['direction']> = new Map(
  layerMetrics(new LayerMeter({ reference: 'float32', target: 'float32' }, null).sums).map(({ name, direction }) => [
    name,
    direction,
  ]),
)

export const LAYER_METRICS: readonly string[] = [...DIRECTIONS.keys()]

/** What was measured of a layer in one call. */
type NamedMetrics = Pick<LayerSample, 'name' | 'shape' | 'metrics'>

/** Limits for each layer and shape, in the order in which they were first given. */
export function learnLimits(samples: readonly NamedMetrics[]): LimitedLayer[] {
  const layers = groupBy(samples, ({ name, shape }) => `${shape?.join()} ${name}`)
  return [...layers.values()].map(limitLayer)
}

function limitLayer(samples: readonly NamedMetrics[]): LimitedLayer {
  const { name, shape } = samples[0]!
  const metrics: Record<string, LayerLimit> = {}
  const unlimited: Record<string, string> = {}
  for (const [metric, direction] of DIRECTIONS) {
    if (!samples.some((sample) => metric in sample.metrics)) continue
    const values = samples.map((sample) => (isPartial(sample, metric) ? null : (sample.metrics[metric] ?? null)))
    const limit = limitMetric(values, direction)
    if (typeof limit === 'string') unlimited[metric] = limit
    else metrics[metric] = limit
  }
  const reason = Object.keys(unlimited).length > 0 ? { unlimited } : {}
  return { name, shape: shape && [...shape], metrics, ...reason }
}

/** Where one side alone gave NaN or infinities, figures are of what is left, and say too little about the layer. */
function isPartial({ metrics }: NamedMetrics, metric: string): boolean {
  return (metrics.nonfinite_mismatch ?? 0) > 0 && !metric.startsWith('nonfinite_')
}

/** Or why there is none. */
function limitMetric(given: readonly (number | null)[], direction: LayerLimit['direction']): LayerLimit | string {
  const values = given.filter((value) => value !== null)
  if (values.some(Number.isNaN)) return 'NaN, which cannot be a limit'
  const { statistic, percent } = TAILS[direction]
  const value = percentile(sorted(values), percent)
  if (value === null) return 'not measured'
  if (!Number.isFinite(value)) return `${value > 0 ? 'infinite' : 'minus infinite'}, which cannot be a limit`
  return { direction, value, statistic, count: values.length }
}
