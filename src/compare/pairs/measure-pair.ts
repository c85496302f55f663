import type { TensorSource } from '../../domain/tensor.ts'
import type { MeasuredParts, PairMeasurer } from '../contract.ts'
import { kernelName, withKernels } from '../kernels/lend.ts'
import type { NumericPlan } from '../rules/numeric-plan.ts'
import { relL2, relL2Limit } from './metrics.ts'
import { pairChunks } from './pair-chunks.ts'
import { PairMeter } from './pair-meter.ts'
import { mergeParts, mergeSums, type PairStatistics } from './pair-statistics.ts'
import { chooseScaling, type PairTask } from './pair-task.ts'

/** The largest relative error of sums that were partly kept in float32. */
const ROUNDING = 1e-5

/** The ratio of ‖r‖ and ‖t‖ as a power of two; the larger it is, the more digits the cosine loses. */
const NORMS_APART = 2

/** Measures two tensors in one pass, and again in float64 if the first pass rounded too much. */
export async function measurePair(
  reference: TensorSource,
  target: TensorSource,
  plan: NumericPlan,
  measurer?: PairMeasurer,
): Promise<PairStatistics> {
  const statistics = await measureOnce(reference, target, plan, false, measurer)
  return isTooRounded(plan, statistics) ? measureOnce(reference, target, plan, true, measurer) : statistics
}

async function measureOnce(
  reference: TensorSource,
  target: TensorSource,
  { limits, maxReference }: NumericPlan,
  isExact: boolean,
  measurer: PairMeasurer | undefined,
): Promise<PairStatistics> {
  const dtypes = { referenceDType: reference.dtype, targetDType: target.dtype }
  const task = { ...dtypes, limits, maxReference, isExact, kernels: kernelName() }
  const found = await (measurer?.measure(reference, target, task) ?? measureChunks(reference, target, task))
  const { unit, kind } = chooseScaling(task)
  const merged = { ...mergeParts(found.parts), sums: mergeSums(found.sums) }
  return { ...merged, limits, unit, isRounded: kind !== null }
}

async function measureChunks(reference: TensorSource, target: TensorSource, task: PairTask): Promise<MeasuredParts> {
  return withKernels(task.kernels, async (kernels) => {
    const meter = new PairMeter(kernels, task)
    const sums: Float64Array[] = []
    for await (const chunk of pairChunks(reference, target)) sums.push(meter.add(chunk))
    return { sums, parts: [meter.part()] }
  })
}

/** Whether roundings could change the verdict, or show in the cosine. */
function isTooRounded(plan: NumericPlan, statistics: PairStatistics): boolean {
  if (!statistics.isRounded) return false
  const { reference, target } = statistics.sums
  if (target > 0 && reference > 0 && Math.abs(Math.log2(target / reference)) > 2 * NORMS_APART) return true
  const [limit, value] = [relL2Limit(plan, statistics), relL2(statistics)]
  return limit !== null && value !== null && Math.abs(value - limit) <= limit * ROUNDING
}
