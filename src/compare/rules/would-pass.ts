import { relL2 } from '../pairs/metrics.ts'
import type { PairStatistics } from '../pairs/pair-statistics.ts'
import type { NumericPlan } from './numeric-plan.ts'
import { formatLimit, formatRoundedUp } from './rule-text.ts'

/** The smallest tolerance that would have passed, in words; null if only equality passes. */
export function smallestPassing(plan: NumericPlan, statistics: PairStatistics): string | null {
  const { rule } = plan
  if (rule.kind === 'exact') return null
  if (statistics.nonFiniteMismatches > 0)
    return 'no tolerance: values that are not finite must be the same on both sides'
  if (rule.kind === 'float') return smallestTolerance(plan, statistics)
  const steps = statistics.limits.ulpDType === null ? statistics.maxAbs : statistics.maxUlp
  return `${formatLimit(steps)} steps off in ${formatRoundedUp((statistics.different / statistics.count) * 100)} % of the values`
}

function smallestTolerance(plan: NumericPlan, statistics: PairStatistics): string {
  const parts = [elementPart(plan, statistics)]
  const value = relL2(statistics)
  if (plan.limits.relL2 !== null && value !== null) parts.push(`relL2 ${formatRoundedUp(value)}`)
  const text = parts.join(', ')
  return isVacuous(plan, statistics) ? `${text}, which is refused because everything would pass` : text
}

function elementPart(plan: NumericPlan, { neededConstant, limits }: PairStatistics): string {
  const isScaled = plan.hasScale && plan.rule.kind === 'float' && plan.rule.tolerance.scale > 0
  const needed = Math.max(neededConstant, limits.constant)
  const limit = isScaled ? `scale ${formatRoundedUp(needed / plan.maxReference)}` : `atol ${formatRoundedUp(needed)}`
  return `${limit} with rtol ${formatLimit(limits.rtol)}`
}

function isVacuous(plan: NumericPlan, statistics: PairStatistics): boolean {
  if (!plan.hasScale || plan.rule.kind !== 'float') return false
  const isOverScale = plan.rule.tolerance.scale > 0 && statistics.neededConstant >= plan.maxReference
  return isOverScale || (plan.limits.relL2 !== null && !((relL2(statistics) ?? 0) < 1))
}
