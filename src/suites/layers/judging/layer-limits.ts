import { percentile, sorted } from '../../../compare/statistics/percentile.ts'
import type { Metric } from '../../../domain/result.ts'
import { findValue, type MeasuredLayer, shapeOf } from '../measured-layer.ts'
import {
  findLimitedLayer,
  type LayerLimit,
  type LayerThresholds,
  type LimitedLayer,
} from '../thresholds/layer-thresholds.ts'
import { JUDGED_METRICS } from './check-layer.ts'
import type { LayerLimits } from './contract.ts'

/** As a thresholds file has them. */
export function limitsOfFile(path: string, thresholds: Pick<LayerThresholds, 'layers'>): LayerLimits {
  return { source: path, find: (name, shape) => findLimitedLayer(thresholds, name, shape) }
}

/** What a baseline gives on the same inputs, over all steps of the same shape. */
export function limitsOfBaseline(source: string, measured: readonly MeasuredLayer[]): LayerLimits {
  const alike = new Map<string, MeasuredLayer[]>()
  for (const layer of measured.filter(({ sums }) => sums !== null)) {
    const key = JSON.stringify([layer.name, shapeOf(layer)])
    alike.set(key, [...(alike.get(key) ?? []), layer])
  }
  const learnt = new Map([...alike].map(([key, layers]) => [key, limitsOf(layers)]))
  return { source, find: (name, shape) => learnt.get(JSON.stringify([name, shape])) ?? null }
}

function limitsOf(layers: readonly MeasuredLayer[]): LimitedLayer {
  const [first] = layers
  const limits = JUDGED_METRICS.flatMap((name): [string, LayerLimit][] => {
    const limit = learn(name, layers)
    return limit ? [[name, limit]] : []
  })
  return { name: first!.name, shape: [...shapeOf(first!)], metrics: Object.fromEntries(limits) }
}

/** Nothing can be over an infinite limit. */
function learn(name: string, layers: readonly MeasuredLayer[]): LayerLimit | null {
  const values = layers.map((layer) => findValue(layer, name)).filter((value) => value !== null)
  const { direction } = layers[0]!.metrics.find((metric): metric is Metric => metric.name === name)!
  const value = percentile(sorted(values), direction === 'lower' ? 99 : 1)
  if (value === null || !Number.isFinite(value)) return null
  return { direction, value, statistic: direction === 'lower' ? 'p99' : 'p1', count: values.length }
}
