import type { CaseError, Metric, Result } from '../domain/result.ts'
import { cleanProse, cleanText, formatNumber, formatPair } from '../domain/text.ts'
import type { Counts, Verdict } from '../domain/verdict.ts'

/** Written so that NaN is never within. */
export function withinLimit(metric: Metric): boolean {
  if (metric.threshold === undefined) return true
  if (metric.value === null) return false
  return metric.direction === 'lower' ? metric.value <= metric.threshold : metric.value >= metric.threshold
}

/** `relL2 0.6247 > limit 1e-4`, `cosine not measured: …`, `maxAbs 0.58` */
export function metricText(metric: Metric): string {
  const name = cleanText(metric.name, 80)
  if (metric.value === null) return `${name} not measured: ${cleanProse(metric.reason ?? 'no reason recorded')}`
  if (metric.threshold === undefined) return `${name} ${formatNumber(metric.value)}`
  const [value, limit] = formatPair(metric.value, metric.threshold)
  return `${name} ${value} ${relation(metric)} limit ${limit}`
}

function relation(metric: Metric): string {
  const wanted = metric.direction === 'lower' ? '≤' : '≥'
  if (withinLimit(metric)) return wanted
  if (Number.isNaN(metric.value) || Number.isNaN(metric.threshold)) return `is not ${wanted}`
  return metric.direction === 'lower' ? '>' : '<'
}

/** The metric with where its limit comes from and from how many values it was computed. */
export function metricWithProvenance(metric: Metric): string {
  const notes = [metric.provenance && cleanProse(metric.provenance), metric.count > 0 && `n=${metric.count}`]
  const text = notes.filter(Boolean).join('; ')
  return text && metric.value !== null ? `${metricText(metric)} (${text})` : metricText(metric)
}

/** Metrics that broke their limit: of the case, or of its outputs where the case has none. */
export function brokenMetrics(result: Result): Metric[] {
  const broken = result.metrics.filter((metric) => !withinLimit(metric))
  if (broken.length > 0) return broken
  return result.outputs.flatMap((output) => output.metrics.filter((metric) => !withinLimit(metric)))
}

/** `run on the target: the worker died (SIGABRT)` */
export function errorText(error: CaseError): string {
  const where = error.side ? `${error.stage} on the ${error.side}` : error.stage
  return `${where}: ${cleanProse(error.message)}${ending(error)}`
}

function ending(error: CaseError): string {
  const parts = [error.signal, error.exitCode === undefined ? undefined : `exit code ${error.exitCode}`]
  const missing = parts.filter((part) => part !== undefined && !error.message.includes(part))
  return missing.length > 0 ? ` (${cleanText(missing.join(', '), 80)})` : ''
}

/** The verdict that a case would have if nothing were expected of it. */
export function judgedVerdict({ verdict, expected }: Result): Verdict {
  return expected?.found.verdict ?? verdict
}

/** Why a case has its verdict, in one line; empty where there is nothing to say. */
export function whyText(result: Result): string {
  const reason = result.reason && cleanProse(result.reason)
  if (result.error) return [reason, errorText(result.error)].filter(Boolean).join('; ')
  const failed = judgedVerdict(result) === 'fail'
  const metric = failed ? brokenMetrics(result)[0] : undefined
  return reason || (metric && metricText(metric)) || (failed ? differingOutputs(result) : '')
}

function differingOutputs(result: Result): string {
  const names = result.outputs.filter((output) => output.verdict === 'fail').map((output) => cleanText(output.name, 80))
  return names.length > 0 ? `differs: ${cleanText(names.join(', '), 200)}` : 'no reason recorded'
}

const NOUNS: readonly (readonly [Verdict, string, string])[] = [
  ['pass', 'passed', 'passed'],
  ['fail', 'failed', 'failed'],
  ['error', 'error', 'errors'],
  ['inconclusive', 'inconclusive', 'inconclusive'],
  ['captured', 'captured', 'captured'],
  ['skip', 'skipped', 'skipped'],
  ['xfail', 'xfailed', 'xfailed'],
  ['xpass', 'xpassed', 'xpassed'],
]

/** `3 passed, 1 failed, 2 skipped` */
export function countsText(counts: Counts): string {
  const parts = NOUNS.filter(([verdict]) => counts[verdict] > 0)
  const texts = parts.map(([verdict, one, many]) => `${counts[verdict]} ${counts[verdict] === 1 ? one : many}`)
  return texts.join(', ') || 'no cases judged'
}
