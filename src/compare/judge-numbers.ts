import { StageError } from '../domain/errors.ts'
import type { OutputResult } from '../domain/result.ts'
import { elementCount, type TensorSource } from '../domain/tensor.ts'
import type { TensorContext } from './contract.ts'
import { measureMaxAbs } from './pairs/max-abs.ts'
import { measurePair } from './pairs/measure-pair.ts'
import { pairMetrics, relL2, relL2Limit, type Thresholds } from './pairs/metrics.ts'
import type { PairStatistics } from './pairs/pair-statistics.ts'
import { knowSame } from './pairs/same-tensor.ts'
import { type NumberRule, type NumericPlan, planNumbers } from './rules/numeric-plan.ts'
import { describeRule, formatMeasured } from './rules/rule-text.ts'
import { smallestPassing } from './rules/would-pass.ts'

/** Judges two tensors of the same shape, of numbers of any dtype, in one pass. */
export async function judgeNumbers(
  reference: TensorSource,
  target: TensorSource,
  rule: NumberRule,
  context: TensorContext,
): Promise<OutputResult> {
  const { measurer } = context
  const maxReference = reference.maxAbs ?? (await (measurer?.maxAbs(reference) ?? measureMaxAbs(reference)))
  const plan = planNumbers(rule, reference, target, maxReference)
  const known = context.generated ? null : knowSame(reference, target, plan)
  const statistics = known ?? (await measurePair(reference, target, plan, measurer))
  if (plan.rule.kind === 'float') checkMaxReference(reference, statistics)
  const faults = faultsOf(plan, statistics)
  const isDegenerate = context.generated && faults.length === 0 && provesNothing(reference, statistics)
  return {
    name: reference.name,
    dtype: reference.dtype,
    shape: reference.shape,
    verdict: faults.length > 0 ? 'fail' : isDegenerate ? 'inconclusive' : 'pass',
    rule: describeRule(plan.rule, plan.hasScale),
    ...(plan.rule.kind === 'float' && { tolerance: plan.rule.tolerance }),
    ...explain(reference, plan, statistics, faults, isDegenerate),
    metrics: pairMetrics(statistics, mismatchCount(plan, statistics), thresholdsOf(plan, statistics)),
    mismatches: mismatchesOf(plan, statistics),
    worst: statistics.worst.list(reference.name, reference.shape),
  }
}

/** A recorded maximum that is too large would widen every limit. */
function checkMaxReference(reference: TensorSource, { maxReference }: PairStatistics): void {
  if (reference.maxAbs === undefined || reference.maxAbs === maxReference) return
  const what = `tensor "${reference.name}" of the reference is recorded with a largest magnitude of ${reference.maxAbs}, found ${maxReference}; its stored copy is damaged, run again with --recompute`
  throw new StageError('compare', what, { side: 'reference' })
}

function mismatchCount({ rule }: NumericPlan, { different, overLimit }: PairStatistics): number {
  return rule.kind === 'quantised' ? different : overLimit
}

function mismatchesOf(plan: NumericPlan, statistics: PairStatistics): OutputResult['mismatches'] {
  const of = statistics.count
  let allowed = Math.round(plan.allowedFraction * of)
  if (allowed / of > plan.allowedFraction) allowed--
  return { count: mismatchCount(plan, statistics), of, allowed }
}

/** The faults in words; none means pass. Limits are tested so that NaN counts as over. */
function faultsOf(plan: NumericPlan, statistics: PairStatistics): string[] {
  return [
    ...nonFiniteFaults(statistics),
    ...(plan.rule.kind === 'quantised' ? stepFaults(plan.rule.steps, statistics) : []),
    ...mismatchFaults(plan, statistics),
    ...relL2Faults(plan, statistics),
  ]
}

function nonFiniteFaults({ nonFiniteMismatches, count }: PairStatistics): string[] {
  return nonFiniteMismatches === 0
    ? []
    : [`${nonFiniteMismatches} of ${count} values are NaN or infinite and differ between the sides`]
}

function stepFaults(steps: number, { overLimit, nonFiniteMismatches, count }: PairStatistics): string[] {
  const over = overLimit - nonFiniteMismatches
  return over === 0 ? [] : [`${over} of ${count} values are more than ${steps} off`]
}

function mismatchFaults(plan: NumericPlan, statistics: PairStatistics): string[] {
  const mismatches = mismatchCount(plan, statistics)
  if (mismatches === statistics.nonFiniteMismatches || mismatches / statistics.count <= plan.allowedFraction) return []
  const allowed = mismatchesOf(plan, statistics)?.allowed
  const words = plan.rule.kind === 'float' ? 'are over the limit' : 'differ'
  return [`${mismatches} of ${statistics.count} values ${words}${allowed === 0 ? '' : `, ${allowed} may`}`]
}

function relL2Faults(plan: NumericPlan, statistics: PairStatistics): string[] {
  const limit = relL2Limit(plan, statistics)
  const value = relL2(statistics)
  if (limit === null || value === null || value <= limit) return []
  return [`relL2 ${formatMeasured(value)} is over ${formatMeasured(limit)}`]
}

/** A constant or entirely non-finite tensor could come from anything. */
function provesNothing(reference: TensorSource, { limits, isConstant, count, sums }: PairStatistics): boolean {
  if (limits.ulpDType === null) return false
  return (isConstant && elementCount(reference.shape) > 1) || (count > 0 && sums.finite === 0)
}

function explain(
  reference: TensorSource,
  plan: NumericPlan,
  statistics: PairStatistics,
  faults: readonly string[],
  isDegenerate: boolean,
): Pick<OutputResult, 'reason' | 'flags' | 'wouldPass'> {
  const flags = plan.rule.kind === 'exact' ? [...plan.rule.flags] : []
  if (isDegenerate) {
    const what = statistics.isConstant ? 'the same' : 'NaN or infinite'
    const reason = `all ${elementCount(reference.shape)} elements are ${what} on both sides, which proves nothing on generated inputs; give meaningful inputs`
    return { reason, flags: [...flags, 'degenerate'] }
  }
  if (faults.length === 0) return { flags }
  const wouldPass = smallestPassing(plan, statistics)
  return {
    reason: faults.join('; '),
    flags: [...flags, ...faultFlags(plan, statistics)],
    ...(wouldPass === null ? {} : { wouldPass }),
  }
}

function faultFlags({ rule }: NumericPlan, { nonFiniteMismatches }: PairStatistics): string[] {
  if (nonFiniteMismatches > 0) return ['non-finite']
  return rule.kind === 'float' ? ['over-tolerance'] : []
}

function thresholdsOf(plan: NumericPlan, statistics: PairStatistics): Thresholds {
  const { rule, allowedFraction, limits } = plan
  const provenance = rule.source
  const limit = relL2Limit(plan, statistics)
  const steps = limits.ulpDType === null ? 'max_abs' : 'max_ulp'
  return {
    nonfinite_mismatch: { threshold: 0, provenance: 'NaN must match NaN, and infinity the same infinity' },
    mismatch_fraction: { threshold: allowedFraction, provenance },
    ...(limit === null ? {} : { rel_l2: { threshold: limit, provenance } }),
    ...(rule.kind === 'quantised' ? { [steps]: { threshold: rule.steps, provenance } } : {}),
  }
}
