import type { TensorSource } from '../domain/tensor.ts'
import { kernelName, withKernels } from './kernels/lend.ts'
import { relL2, relL2Limit } from './metrics.ts'
import type { NumericPlan } from './numeric-plan.ts'
import { pairChunks } from './pair-chunks.ts'
import { PairMeter } from './pair-meter.ts'
import { mergeParts, mergeSums, type PairStatistics } from './pair-statistics.ts'

/** Sums that were kept in float32 for a while are at most this far off, in parts of themselves. */
const ROUNDING = 1e-5

/** Measures two tensors in one pass; in another one, all in float64, if the first was too close to a limit. */
export async function measurePair(
  reference: TensorSource,
  target: TensorSource,
  plan: NumericPlan,
): Promise<PairStatistics> {
  const statistics = await measureOnce(reference, target, plan, false)
  return isTooClose(plan, statistics) ? measureOnce(reference, target, plan, true) : statistics
}

async function measureOnce(
  reference: TensorSource,
  target: TensorSource,
  { limits, maxReference }: NumericPlan,
  isExact: boolean,
): Promise<PairStatistics> {
  return withKernels(kernelName(), async (kernels) => {
    const dtypes = { referenceDType: reference.dtype, targetDType: target.dtype }
    const meter = new PairMeter(kernels, { ...dtypes, limits, maxReference, isExact })
    const sums: Float64Array[] = []
    for await (const chunk of pairChunks(reference, target)) sums.push(meter.add(chunk))
    const { unit, kind } = meter
    return { ...mergeParts([meter.part()]), sums: mergeSums(sums), limits, unit, isRounded: kind !== null }
  })
}

function isTooClose(plan: NumericPlan, statistics: PairStatistics): boolean {
  const [limit, value] = [relL2Limit(plan, statistics), relL2(statistics)]
  if (!statistics.isRounded || limit === null || value === null) return false
  return Math.abs(value - limit) <= limit * ROUNDING
}
