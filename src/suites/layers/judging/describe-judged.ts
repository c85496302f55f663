import type { FigureTable, Metric } from '../../../domain/result.ts'
import { formatNumber } from '../../../domain/text.ts'
import { nameWithStep } from '../measured-layer.ts'
import { type JudgedLayer, originText } from './conclude.ts'
import type { Check, LayerJudging } from './contract.ts'

/** Layers that are shown; the file has all. */
const SHOWN = 10

/** Those that are to blame, the first over its limit, and those furthest over it or nearest to it, in graph order. */
export function tabulateJudged(judged: readonly JudgedLayer[]): FigureTable {
  const over = judged.filter(({ standing }) => standing.kind === 'over')
  const wanted = over.length > 0 ? over : judged
  const ranked = [...wanted].sort((a, b) => rank(b, over[0]) - rank(a, over[0])).slice(0, SHOWN)
  const rows = judged.filter((one) => ranked.includes(one)).map(rowOf)
  const title =
    over.length > 0 ? `over their limit: ${over.length} of ${judged.length} layers` : 'nearest to their limit'
  return { head: [title, 'metric', 'value', 'limit', 'ratio', ''], rows }
}

function rank(one: JudgedLayer, first: JudgedLayer | undefined): number {
  if (one.origin?.kind === 'made there' || one === first) return Infinity
  return shownCheck(one)?.ratio ?? (one.standing.kind === 'over' ? Number.MAX_VALUE : -1)
}

function rowOf(one: JudgedLayer): string[] {
  const check = shownCheck(one)
  const figures = check
    ? [check.metric.name, formatNumber(check.metric.value), formatNumber(check.limit), formatNumber(check.ratio)]
    : ['', 'not measured', '', '']
  return [nameWithStep(one.layer), ...figures, remark(one)]
}

function remark({ standing, origin }: JudgedLayer): string {
  if (standing.kind === 'within') return ''
  const why = standing.kind === 'over' && standing.checks.some(({ isWithin }) => !isWithin) ? '' : standing.why
  return [origin && originText(origin), why].filter(Boolean).join('; ')
}

/** What is over its limit; otherwise the error. */
function shownCheck({ standing }: JudgedLayer): Check | undefined {
  const checks = 'checks' in standing ? standing.checks : []
  return checks.find(({ isWithin }) => !isWithin) ?? checks[0]
}

/** Of every judged metric the value that is furthest over its limit, or nearest to it. */
export function judgedMetrics(judged: readonly JudgedLayer[], { limits, margin }: LayerJudging): Metric[] {
  const all = judged.flatMap(({ layer, standing }) =>
    'checks' in standing ? standing.checks.map((check) => ({ layer, check })) : [],
  )
  return [...new Set(all.map(({ check }) => check.metric.name))].map((name) => {
    const found = all.filter(({ check }) => check.metric.name === name)
    const { layer, check } = found.reduce((worst, one) => (isWorse(one.check, worst.check) ? one : worst))
    const provenance = `${formatNumber(margin)} times ${limits.source}, at ${nameWithStep(layer)}`
    return { ...check.metric, threshold: check.limit, provenance }
  })
}

function isWorse(a: Check, b: Check): boolean {
  return a.isWithin === b.isWithin ? a.ratio > b.ratio : !a.isWithin
}
