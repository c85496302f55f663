import { elementCount, type TensorSource } from '../../domain/tensor.ts'
import { valuesPerElement } from '../../tensors/bytes.ts'
import type { NumericPlan } from '../rules/numeric-plan.ts'
import { noExtremes, type PairStatistics } from './pair-statistics.ts'
import { mayBeBelowUlp } from './pair-task.ts'
import { Quantiles } from './quantiles.ts'
import { WorstPlaces } from './worst-places.ts'

/** Whether both sides are the very same bytes. */
function areSame(reference: TensorSource, target: TensorSource): boolean {
  const [r, t] = [reference.file, target.file]
  return (
    r !== undefined && t !== undefined && r.path === t.path && r.start === t.start && reference.dtype === target.dtype
  )
}

/**
 * What measuring a tensor beside itself would find, if that can be told without reading it: limits that depend on the sizes
 * of all its numbers cannot. Whether it is constant is not said.
 */
export function knowSame(reference: TensorSource, target: TensorSource, plan: NumericPlan): PairStatistics | null {
  const { maxAbs, zeros } = reference
  if (maxAbs === undefined || zeros === undefined || !areSame(reference, target) || needsSums(plan)) return null
  const count = elementCount(reference.shape) * valuesPerElement(reference.dtype)
  const norm = maxAbs > 0 ? 1 : 0
  const none = { abs: 0, difference: 0, product: 0, halfUlp: 0, relative: 0 }
  return {
    ...noExtremes(),
    count,
    maxReference: maxAbs,
    isConstant: false,
    sums: { ...none, finite: count, reference: norm, target: norm, relativeCount: count - zeros },
    absQuantiles: nothingBut(count),
    relativeQuantiles: nothingBut(count - zeros),
    worst: new WorstPlaces(),
    limits: plan.limits,
    unit: 1,
    isRounded: false,
  }
}

function needsSums({ rule, limits }: NumericPlan): boolean {
  return mayBeBelowUlp(limits) || (rule.kind === 'float' && rule.tolerance.rounding !== 0)
}

/** Quantiles of so many errors of 0. */
function nothingBut(count: number): Quantiles {
  return new Quantiles([{ few: null, bins: Float64Array.of(count), count, least: 0, most: 0 }])
}
