import type { LoggedValues, MetricTolerance, Recording } from '../../../domain/convergence.ts'
import { cleanText } from '../../../domain/text.ts'
import type { Verdict } from '../../../domain/verdict.ts'
import type { CurveWindow } from './contract.ts'
import type { Series } from './judge-series.ts'
import { metricAt, valueAt } from './logged-values.ts'
import { leastSamples } from './seeds.ts'
import { joinWords, stepList } from './step-list.ts'

export interface Problem {
  readonly verdict: Extract<Verdict, 'fail' | 'error'>
  readonly text: string
}

/** What a window lacks before anything is replayed. */
export function recordingProblems(
  { rules, recorded, samples, replays }: CurveWindow,
  series: readonly Series[],
): Problem[] {
  const metrics = Object.keys(rules)
  const problems: string[] = []
  if (metrics.length === 0) problems.push('no metric has a rule, so there is nothing to judge')
  if (recorded.size === 0) problems.push('the recording has no steps; gather again')
  if (replays.length === 0) problems.push('nothing was replayed')
  for (const metric of recorded.size === 0 ? [] : metrics)
    if (!series.some((one) => one.metric === metric))
      problems.push(`${cleanText(metric, 60)} has a rule but was not recorded; gather again`)
  for (const metric of new Set(
    series.filter(({ rule }) => samples.length + 1 < leastSamples(rule.tolerance)).map((s) => s.metric),
  ))
    problems.push(fewSamples(metric, rules[metric]!.tolerance, samples.length + 1))
  return problems.map((text) => ({ verdict: 'error', text }))
}

function fewSamples(metric: string, tolerance: MetricTolerance, count: number): string {
  const found = count === 1 ? 'there is 1' : `there are ${count}`
  const what = tolerance.kind === 'sigma' ? `sigma ${tolerance.sigmas}` : tolerance.kind
  const needs = `${cleanText(metric, 60)} is judged by ${what}, which needs at least ${leastSamples(tolerance)} samples, but ${found}`
  return `${needs}; assay converge -g --seeds 5 gathers more`
}

/** Differences between what a replay logged and what was recorded, and how many steps can be compared. */
export function replayProblems(
  replay: Recording,
  { recorded }: Pick<CurveWindow, 'recorded'>,
  series: readonly Series[],
): { readonly problems: readonly Problem[]; readonly compared: number; readonly expected: number } {
  const steps = judgedSteps(series)
  const present = steps.filter((step) => replay.has(step))
  const compared = present.filter((step) => series.some((one) => isComparable(one, step, recorded, replay))).length
  const missing = steps.filter((step) => !replay.has(step))
  const problems = [
    ...missingSteps(missing, compared, steps.length),
    ...missingMetrics(present, recorded, replay, series),
    ...changedLabels(present, recorded, replay, series),
    ...strangeTexts(replay, series),
  ]
  return { problems, compared, expected: steps.length }
}

function judgedSteps(series: readonly Series[]): number[] {
  return [...new Set(series.flatMap(({ steps }) => steps))].sort((a, b) => a - b)
}

function isComparable(series: Series, step: number, recorded: Recording, replay: Recording): boolean {
  return valueAt(recorded, step, series) !== undefined && typeof valueAt(replay, step, series) === 'number'
}

function missingSteps(missing: readonly number[], compared: number, expected: number): Problem[] {
  if (missing.length === 0) return []
  if (missing.length === expected)
    return [{ verdict: 'error', text: `nothing was logged for ${stepList(missing)}, compared 0 of ${expected}` }]
  const verb = missing.length === 1 ? 'was' : 'were'
  return [{ verdict: 'fail', text: `${stepList(missing)} ${verb} not logged, compared ${compared} of ${expected}` }]
}

function missingMetrics(
  steps: readonly number[],
  recorded: Recording,
  replay: Recording,
  series: readonly Series[],
): Problem[] {
  return metricsOf(series).flatMap((metric) => {
    const without = steps.filter((step) => metricAt(recorded, step, metric) && !metricAt(replay, step, metric))
    if (without.length === 0) return []
    return [{ verdict: 'fail', text: `${cleanText(metric, 60)} was not logged at ${stepList(without)}` } as const]
  })
}

function changedLabels(
  steps: readonly number[],
  recorded: Recording,
  replay: Recording,
  series: readonly Series[],
): Problem[] {
  const changes = new Map<string, number[]>()
  for (const metric of metricsOf(series))
    for (const step of steps) {
      const [before, now] = [recorded, replay].map((side) => metricAt(side, step, metric))
      if (!before || !now || hasLabels(before, now)) continue
      const change = `${cleanText(metric, 60)} has the labels ${labelList(now)} instead of ${labelList(before)}`
      const at = changes.get(change)
      if (at) at.push(step)
      else changes.set(change, [step])
    }
  return [...changes].map(([change, at]) => ({ verdict: 'fail', text: `${change}, at ${stepList(at)}` }))
}

function hasLabels(before: LoggedValues, now: LoggedValues): boolean {
  const labels = Object.keys(before)
  return labels.length === Object.keys(now).length && labels.every((label) => Object.hasOwn(now, label))
}

function labelList(values: LoggedValues): string {
  return joinWords(Object.keys(values).map((label) => cleanText(label, 40)))
}

function strangeTexts(replay: Recording, series: readonly Series[]): Problem[] {
  return series.flatMap((one) => {
    const strange = one.steps.filter((step) => typeof valueAt(replay, step, one) === 'string')
    const text = strange.length === 0 ? undefined : valueAt(replay, strange[0]!, one)
    if (typeof text !== 'string') return []
    const words = `${cleanText(one.name, 60)} is not a number at ${stepList(strange)}: "${cleanText(text, 40)}"`
    return [{ verdict: 'fail', text: words } as const]
  })
}

function metricsOf(series: readonly Series[]): string[] {
  return [...new Set(series.map(({ metric }) => metric))]
}
