import { DTYPES, type DType } from '../../../domain/dtype.ts'
import type { Metric } from '../../../domain/result.ts'
import { elementCount, formatShape } from '../../../domain/tensor.ts'
import { formatNumber } from '../../../domain/text.ts'
import { relativeUlp } from '../../../tensors/ulp.ts'
import { findValue, type MeasuredLayer, shapeOf } from '../measured-layer.ts'
import type { LayerLimit, LimitedLayer } from '../thresholds/layer-thresholds.ts'
import type { Check, LayerLimits, LayerStanding } from './contract.ts'

/** The mean cosine of rows, and where a layer has none that of the whole tensor. */
const JUDGED_METRICS = ['rel_l2', 'row_cosine', 'cosine'] as const

/** What float32 and sums in float64 may be off where a baseline gives the very same numbers. */
const LEAST_ERROR = 1e-6

/** Compares a layer with its limits. */
export function checkLayer(layer: MeasuredLayer, limits: LayerLimits, margin: number): LayerStanding {
  const unlike = whyUnlike(layer)
  if (unlike !== null) return { kind: 'over', checks: [], why: unlike }
  if (layer.problem !== undefined) return { kind: 'unmeasured', why: layer.problem }
  const limited = limits.find(layer.name, shapeOf(layer))
  const checks = limited ? checkMetrics(layer, limited, margin) : []
  const mismatched = findValue(layer, 'nonfinite_mismatch')
  if (mismatched) return { kind: 'over', checks, why: `${mismatched} values are not finite on one side alone` }
  const broken = checks.filter(({ isWithin }) => !isWithin)
  if (broken.length > 0) return { kind: 'over', checks, why: broken.map(checkText).join(', ') }
  if (checks.length > 0) return { kind: 'within', checks }
  if (findValue(layer, 'rel_l2') === null) return { kind: 'unmeasured', why: whyNoError(layer) }
  return { kind: 'unlimited', why: `no limit for this layer of shape ${formatShape(shapeOf(layer))}` }
}

/** An empty tensor has nothing to be judged. */
export function isEmpty({ reference, target, problem }: MeasuredLayer): boolean {
  return problem === undefined && elementCount((reference ?? target)!.shape) === 0
}

function checkMetrics({ metrics, target }: MeasuredLayer, limited: LimitedLayer, margin: number): Check[] {
  const least = Math.max(LEAST_ERROR, target ? roundingOf(target.dtype) : 0)
  const found = JUDGED_METRICS.flatMap((name) => checkMetric(metrics, name, limited.metrics[name], { margin, least }))
  const hasRows = found.some(({ metric }) => metric.name === 'row_cosine')
  return found.filter(({ metric }) => !(hasRows && metric.name === 'cosine'))
}

/** The largest relative error that rounding to a dtype makes; 0 for whole numbers. */
function roundingOf(dtype: DType): number {
  return DTYPES[dtype].kind === 'float' ? relativeUlp(dtype) / 2 : 0
}

interface Allowance {
  readonly margin: number
  /** An error that is never over. */
  readonly least: number
}

function checkMetric(
  metrics: readonly Metric[],
  name: string,
  learnt: LayerLimit | undefined,
  { margin, least }: Allowance,
): [Check] | [] {
  const metric = metrics.find((one) => one.name === name)
  if (!learnt || !metric || metric.value === null) return []
  const { direction } = learnt
  const distance = (value: number) => (direction === 'lower' ? value : 1 - value)
  // What a cosine lacks to 1 grows with the square of the error.
  const power = direction === 'lower' ? 1 : 2
  const allowed = Math.max(margin ** power * distance(learnt.value), least ** power)
  const limit = direction === 'lower' ? allowed : 1 - allowed
  return [
    {
      metric: { ...metric, value: metric.value },
      direction,
      learnt: learnt.value,
      limit,
      ratio: ratioOf(distance(metric.value), distance(learnt.value)) ** (1 / power),
      // Written so that NaN is over.
      isWithin: distance(metric.value) <= allowed,
    },
  ]
}

function ratioOf(error: number, learnt: number): number {
  return error === 0 && learnt === 0 ? 1 : error / learnt
}

function checkText({ metric, direction, limit }: Check): string {
  return `${metric.name} ${formatNumber(metric.value)} ${direction === 'lower' ? '>' : '<'} ${formatNumber(limit)}`
}

function whyUnlike({ reference, target }: MeasuredLayer): string | null {
  if (!reference || !target || formatShape(reference.shape) === formatShape(target.shape)) return null
  return `the shapes differ: ${formatShape(reference.shape)} on the reference, ${formatShape(target.shape)} on the target`
}

function whyNoError({ metrics }: MeasuredLayer): string {
  return metrics.find(({ name }) => name === 'rel_l2')?.reason ?? 'no error could be computed'
}
