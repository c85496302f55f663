import { type MeasuredLayer, shapeOf } from '../measured-layer.ts'
import { indexLimits, type LayerThresholds } from '../thresholds/layer-thresholds.ts'
import { learnLimits } from '../thresholds/learn-limits.ts'
import type { LayerLimits } from './contract.ts'

/** As a thresholds file has them. */
export function limitsOfFile(path: string, { layers }: Pick<LayerThresholds, 'layers'>): LayerLimits {
  return { source: path, find: indexLimits(layers) }
}

/** What a baseline gives on the same inputs, over all steps of the same shape. */
export function limitsOfBaseline(source: string, measured: readonly MeasuredLayer[]): LayerLimits {
  const samples = measured
    .filter(({ sums }) => sums !== null)
    .map((layer) => ({
      name: layer.name,
      shape: shapeOf(layer),
      metrics: Object.fromEntries(layer.metrics.map(({ name, value }) => [name, value])),
    }))
  return { source, find: indexLimits(learnLimits(samples)) }
}
