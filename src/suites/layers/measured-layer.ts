import { layerMetrics } from '../../compare/layers/layer-metrics.ts'
import type { PairedTensor } from '../../compare/layers/paired-tensor.ts'
import type { Metric } from '../../domain/result.ts'

/** A tensor of one step: 0 is a forward pass, or the prompt of a text. */
export interface StepTensor extends PairedTensor {
  readonly step: number
}

export interface MeasuredLayer extends StepTensor {
  readonly metrics: readonly Metric[]
}

export function withMetrics(tensors: readonly StepTensor[]): MeasuredLayer[] {
  return tensors.map((tensor) => ({ ...tensor, metrics: tensor.sums ? layerMetrics(tensor.sums) : [] }))
}

/** The reference's, or that of the side which alone computes it. */
export function shapeOf({ reference, target }: Pick<StepTensor, 'reference' | 'target'>): readonly number[] {
  return (reference ?? target)!.shape
}

export function findValue({ metrics }: { readonly metrics: readonly Metric[] }, name: string): number | null {
  return metrics.find((metric) => metric.name === name)?.value ?? null
}

/** `model.norm`, `model.norm, step 3` */
export function nameWithStep({ name, step }: Pick<StepTensor, 'name' | 'step'>): string {
  return step === 0 ? name : `${name}, step ${step}`
}
