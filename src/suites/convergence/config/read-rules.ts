import { type MetricRule, type MetricTolerance, OPERATORS, TOLERANCE_KINDS } from '../../../domain/convergence.ts'
import { suggestWord } from '../../../domain/suggest.ts'
import { refuseRule } from '../curves/rule-words.ts'
import { checkedName } from './read-parsing.ts'
import type { TestSection } from './test-section.ts'
import { quoted } from './yaml-tree.ts'

const METRIC_KEYS = ['margin', 'comparison', 'tolerance', 'warmup_steps', 'max_outliers']
const MARGIN = 'a number of at least 0, such as 0.1'
const COMPARISON = `one of ${OPERATORS.map((operator) => `"${operator}"`).join(', ')}`

/** How each metric of a test is judged. */
export function readRules(test: TestSection, warnings: string[]): Record<string, MetricRule> {
  const metrics = test.section('metrics', 'a map with at least one metric, by the name of its parser')
  if (metrics.keys.length === 0) throw test.refuse('metrics', 'is empty; expected at least one metric')
  const parsers = test.section('log_parsing', 'a map with step_num, model_save and a parser per metric')
  const rules = metrics.keys.map((name) => {
    checkedName(metrics, name)
    if (!parsers.has(name)) throw withoutParser(metrics, parsers, name)
    return [name, readRule(metrics, name, warnings)] as const
  })
  return Object.fromEntries(rules)
}

function withoutParser(metrics: TestSection, parsers: TestSection, name: string): Error {
  const others = parsers.keys.filter((key) => key !== 'step_num' && key !== 'model_save')
  return metrics.refuse(name, `has no parser; add ${quoted(name)} to log_parsing (${suggestWord(name, others)})`)
}

function readRule(metrics: TestSection, name: string, warnings: string[]): MetricRule {
  const section = metrics.section(name, 'a map with margin and comparison').allow(METRIC_KEYS)
  const tolerance = readTolerance(section)
  const isImplied = tolerance.kind === 'exact' && !section.has('comparison')
  const comparison = isImplied ? '==' : section.oneOf('comparison', OPERATORS, COMPARISON)
  warnOfVacuous(section, tolerance, warnings)
  const rule: MetricRule = {
    comparison,
    tolerance,
    warmUpSteps: section.has('warmup_steps')
      ? section.number('warmup_steps', 'a whole number of steps', { least: 0, isWhole: true })
      : 0,
    maxOutliers: section.has('max_outliers')
      ? section.number('max_outliers', 'a fraction from 0 to 1, such as 0.01', { least: 0, most: 1 })
      : 0,
  }
  const problem = refuseRule(rule)
  if (problem !== null) throw metrics.refuse(name, `cannot be judged: ${problem}`)
  return rule
}

function readTolerance(section: TestSection): MetricTolerance {
  const own = section.optionalSection('tolerance', 'a map with a kind')
  const what = `one of ${TOLERANCE_KINDS.join(', ')}`
  const kind = own ? own.oneOf('kind', TOLERANCE_KINDS, what) : 'isclose'
  if (kind === 'exact' || kind === 'sigma' || kind === 'ttest') {
    if (section.has('margin')) throw section.refuse('margin', `has no meaning for the kind ${kind}; remove it`)
  }
  if (kind === 'exact') return own!.allow(['kind']) && { kind }
  if (kind === 'sigma') return { kind, sigmas: positive(own!, 'sigmas', 'how many standard deviations, such as 4') }
  if (kind === 'ttest')
    return { kind, alpha: positive(own!, 'alpha', 'a probability between 0 and 1, such as 0.05', 1) }
  return { kind, margin: readMargin(section, own) }
}

function positive(section: TestSection, key: string, what: string, below = Number.POSITIVE_INFINITY): number {
  const value = section.allow(['kind', key]).number(key, what, { least: 0 })
  if (value > 0 && value < below) return value
  throw section.refuse(key, `is ${value}, expected ${what}`)
}

function readMargin(section: TestSection, own: TestSection | null): number {
  own?.allow(['kind', 'margin'])
  if (!own?.has('margin')) return section.number('margin', MARGIN, { least: 0 })
  if (section.has('margin')) throw section.refuse('margin', 'is given here and in tolerance; keep one of them')
  return own.number('margin', MARGIN, { least: 0 })
}

function warnOfVacuous(section: TestSection, tolerance: MetricTolerance, warnings: string[]): void {
  if (tolerance.kind !== 'isclose' || tolerance.margin < 1) return
  warnings.push(`${section.path} has the margin ${tolerance.margin}, which treats all values of the same sign as equal`)
}
