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
    const limit = limitMetric(
      samples.map((sample) => sample.metrics[metric] ?? null),
      direction,
    )
    if (typeof limit === 'string') unlimited[metric] = limit
    else metrics[metric] = limit
  }
  const reason = Object.keys(unlimited).length > 0 ? { unlimited } : {}
  return { name, shape: shape && [...shape], metrics, ...reason }
}

/** Or why there is none. */
function limitMetric(given: readonly (number | null)[], direction: LayerLimit['direction']): LayerLimit | string {
  const values = given.filter((value) => value !== null)
  if (values.some(Number.isNaN)) return 'it is NaN'
  const { statistic, percent } = TAILS[direction]
  const value = percentile(sorted(values), percent)
  if (value === null) return 'not measured'
  if (!Number.isFinite(value)) return `it is ${value > 0 ? 'infinite' : 'minus infinite'}, which cannot be a limit`
  return { direction, value, statistic, count: values.length }
}
