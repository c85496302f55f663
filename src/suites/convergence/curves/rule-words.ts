import { formatLimit } from '../../../compare/rules/rule-text.ts'
import type { MetricRule, MetricTolerance } from '../../../domain/convergence.ts'
import { formatNumber } from '../../../domain/text.ts'
import { widenedSigmas } from './seeds.ts'

/** Farther out than that the distribution of any loss is unknown. */
const MOST_SIGMAS = 20

/** Why a rule is invalid, as the end of a sentence about its metric; null if it is valid. */
export function refuseRule(rule: MetricRule): string | null {
  const { tolerance, warmUpSteps, maxOutliers } = rule
  if (!(Number.isInteger(warmUpSteps) && warmUpSteps >= 0))
    return `warmup_steps is ${warmUpSteps}; give a whole number of at least 0`
  if (!(maxOutliers >= 0 && maxOutliers < 1))
    return `max_outliers is ${maxOutliers}; give a fraction from 0 to below 1, because 1 would let everything pass`
  if (tolerance.kind === 'ttest' && maxOutliers > 0)
    return 'max_outliers has no meaning for ttest, which judges the mean of a window; leave it out or use sigma'
  return refuseTolerance(tolerance) ?? refuseOperator(rule)
}

function refuseTolerance(tolerance: MetricTolerance): string | null {
  if (tolerance.kind === 'exact') return null
  if (tolerance.kind === 'sigma') {
    const { sigmas } = tolerance
    return sigmas > 0 && sigmas <= MOST_SIGMAS
      ? null
      : `sigmas is ${sigmas}; give a number above 0 and at most ${MOST_SIGMAS}`
  }
  if (tolerance.kind === 'ttest') {
    const { alpha } = tolerance
    return alpha > 0 && alpha < 0.5 ? null : `alpha is ${alpha}; give a probability above 0 and below 0.5, such as 0.01`
  }
  const { kind, margin } = tolerance
  if (!(margin >= 0 && Number.isFinite(margin))) return `margin is ${margin}; give a number of at least 0`
  // The documented kind takes any, so it is warned of where a configuration is read.
  const isPart = kind === 'rel' || kind === 'margin'
  return isPart && margin >= 1
    ? `margin is ${margin}; give a fraction below 1, because 1 would let nearly everything pass`
    : null
}

function refuseOperator({ comparison, tolerance: { kind } }: MetricRule): string | null {
  const isBand = kind === 'sigma' || kind === 'ttest'
  if (isBand && comparison === '!=')
    return `${kind} checks whether the seeds explain a value, and != would reverse that; use ==, <= or >=`
  if (kind === 'exact' && (comparison === '!=' || comparison === '<' || comparison === '>'))
    return `exact requires equality, which ${comparison} excludes; use ==`
  return null
}

/** Facts when a rule is applied: number of seeds, whether they differ, and how many series and replays share a chance. */
export interface RuleFacts {
  readonly seeds: number
  readonly areSeedsEqual: boolean
  readonly shares: number
  readonly replays: number
}

/** `<=, margin 0.2`; `r` is what was recorded. */
export function describeMetricRule(rule: MetricRule, facts: RuleFacts): string {
  const { warmUpSteps, maxOutliers } = rule
  const parts = [
    describeTolerance(rule, facts),
    ...(warmUpSteps === 0 ? [] : [`first ${warmUpSteps === 1 ? 'step is' : `${warmUpSteps} steps are`} warm-up`]),
    ...(maxOutliers === 0
      ? []
      : [`${formatLimit(Number((maxOutliers * 100).toPrecision(6)))} % may be beyond the limit`]),
  ]
  return parts.join(', ')
}

function describeTolerance({ comparison, tolerance }: MetricRule, facts: RuleFacts): string {
  const isStrict = comparison === '<' || comparison === '>'
  switch (tolerance.kind) {
    case 'isclose':
      return isStrict ? `${comparison}, without a margin` : `${comparison}, margin ${formatLimit(tolerance.margin)}`
    case 'margin':
    case 'rel':
      return `${comparison}, ${reachWords(comparison)} ${formatLimit(tolerance.margin)}·|r|`
    case 'abs':
      return `${comparison}, ${reachWords(comparison)} ${formatLimit(tolerance.margin)}`
    case 'exact':
      return comparison === '==' ? 'exactly equal' : `exactly equal, not only ${comparison}`
    case 'sigma':
      return `${comparison}, ${formatLimit(tolerance.sigmas)} sigma of ${seedWords(facts)}${deviationWords(tolerance.sigmas, facts)}`
    case 'ttest':
      return `${comparison}, t test at ${formatLimit(tolerance.alpha)}${shareWords(facts)}, ${seedWords(facts)}`
  }
}

function reachWords(comparison: MetricRule['comparison']): string {
  if (comparison === '==') return 'within'
  return comparison === '!=' ? 'farther than' : 'beyond by up to'
}

function seedWords({ seeds, areSeedsEqual }: RuleFacts): string {
  const count = seeds === 1 ? '1 seed' : `${seeds} seeds`
  return areSeedsEqual ? `${count} that make no difference` : count
}

/** The sigmas after widening for few seeds. */
function deviationWords(sigmas: number, { seeds, areSeedsEqual, replays }: RuleFacts): string {
  if (areSeedsEqual || seeds < 2) return ''
  const deviations = formatNumber(widenedSigmas(sigmas, seeds, Math.max(1, replays)), 3)
  return ` (${deviations} deviations${replays > 1 ? `, ${replays} replays share the chance` : ''})`
}

function shareWords({ shares }: RuleFacts): string {
  return shares > 1 ? ` shared by ${shares} series` : ''
}
