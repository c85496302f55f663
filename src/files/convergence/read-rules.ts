import { refuseRule } from '../../compare/convergence/rule-words.ts'
import { type MetricRule, type MetricTolerance, OPERATORS, TOLERANCE_KINDS } from '../../domain/convergence.ts'
import type { YamlSection } from './yaml-section.ts'

const KEYS = ['margin', 'comparison', 'tolerance', 'warmup_steps', 'max_outliers']
const MARGIN = 'how far a value may be off, as a part of it, such as 0.1'

/** How each metric is judged. */
export function readRules(metrics: YamlSection): Record<string, MetricRule> {
  if (metrics.keys.length === 0) throw metrics.problem('', 'is empty: name at least one metric to judge')
  return Object.fromEntries(metrics.keys.map((name) => [name, readRule(metrics.section(name, 'how it is judged'))]))
}

function readRule(metric: YamlSection): MetricRule {
  metric.refuseOthers(KEYS)
  if (!metric.has('comparison')) throw metric.problem('comparison', `is missing: it is one of ${OPERATORS.join(' ')}`)
  const rule: MetricRule = {
    comparison: metric.choice('comparison', OPERATORS),
    tolerance: readTolerance(metric),
    warmUpSteps: metric.has('warmup_steps') ? metric.whole('warmup_steps', 'a number of steps', 0) : 0,
    maxOutliers: metric.has('max_outliers') ? metric.number('max_outliers', 'a part of the steps, from 0 to 1') : 0,
  }
  const problem = refuseRule(rule)
  if (problem !== null) throw metric.problem('', `cannot be judged: ${problem}`)
  return rule
}

function readTolerance(metric: YamlSection): MetricTolerance {
  const tolerance = metric.optional('tolerance')
  if (!tolerance) return { kind: 'isclose', margin: metric.number('margin', MARGIN) }
  tolerance.refuseOthers(['kind', 'margin', 'sigmas', 'alpha'])
  const kind = tolerance.choice('kind', TOLERANCE_KINDS)
  if (kind === 'exact') return { kind }
  if (kind === 'sigma')
    return { kind, sigmas: tolerance.number('sigmas', 'how many deviations of the seeds, such as 4') }
  if (kind === 'ttest') return { kind, alpha: tolerance.number('alpha', 'the chance of a false alarm, such as 0.01') }
  return { kind, margin: (tolerance.has('margin') ? tolerance : metric).number('margin', MARGIN) }
}
