import { summariseSample } from '../../../compare/statistics/two-samples.ts'
import type { MetricRule, Recording } from '../../../domain/convergence.ts'
import { cleanText } from '../../../domain/text.ts'
import { type Verdict, worstVerdict } from '../../../domain/verdict.ts'
import type { CurveWindow, JudgedPoint, JudgedSeries } from './contract.ts'
import { isFiniteNumber, valueAt } from './logged-values.ts'
import { NO_LIMITS } from './operators.ts'
import { targetText } from './point-words.ts'
import { nameReplays, sharedOut } from './replay-names.ts'
import { describeMetricRule } from './rule-words.ts'
import { canAverage, judgeMeans, leastSamples, type SeedSamples, sigmaBands, summariseSteps } from './seeds.ts'
import { stepList } from './step-list.ts'
import { computeLimits, passesRule, type StepNoise } from './tolerance-limits.ts'
import { worstPoint } from './worst-point.ts'

/** One metric under one label, and the steps where it was recorded. */
export interface Series {
  readonly name: string
  readonly metric: string
  readonly label: string
  readonly rule: MetricRule
  readonly steps: readonly number[]
  /** The steps that are judged by their numbers. */
  readonly counted: readonly number[]
}

interface Fault {
  readonly verdict: Extract<Verdict, 'fail' | 'error'>
  readonly reason: string
}

/** `shares`: among how many series the chance of a wrong verdict is shared. */
export function judgeSeries(series: Series, window: CurveWindow, shares: number): JudgedSeries {
  const { name, metric, label, rule, counted } = series
  const recordings = [window.recorded, ...window.samples]
  const samples = samplesOf(series, recordings)
  const noise =
    rule.tolerance.kind === 'sigma' && samples
      ? noiseOf(samples, counted, rule.tolerance.sigmas, window.replays.length)
      : null
  const points = window.replays.flatMap((replay, i) => judgePoints(series, window.recorded, replay, i, noise))
  const means = rule.tolerance.kind === 'ttest' && samples ? judgeReplays(series, samples, window, shares) : null
  const beyond = countBeyond(points, rule.maxOutliers)
  const replayNames = nameReplays(window)
  const faults = [
    ...recordingFaults(series, recordings, samples),
    ...replayFaults({ points, beyond, replayNames }, series.steps.length * window.replays.length),
    ...(means && !means.passes ? [{ verdict: 'fail', reason: means.reason } as const] : []),
  ]
  const reason = faults.map((fault) => fault.reason).join('; ') || means?.reason || withinBudget(beyond)
  const areSeedsEqual = samples !== null && summariseSteps(samples).every(({ deviation }) => deviation === 0)
  const spread = spreadOf(series, recordings)
  return {
    name,
    metric,
    label,
    points,
    replayNames,
    beyond,
    verdict: worstVerdict(faults.map(({ verdict }) => verdict)),
    rule: describeMetricRule(rule, { seeds: recordings.length, areSeedsEqual, shares, replays: window.replays.length }),
    ...(reason === '' ? {} : { reason }),
    ...(means === null ? {} : { statistic: means.statistic }),
    ...(spread.length === 0 ? {} : { noise: spread }),
  }
}

function judgePoints(
  series: Series,
  recorded: Recording,
  replay: Recording,
  number: number,
  noise: ReadonlyMap<number, StepNoise> | null,
): JudgedPoint[] {
  const countedSteps = new Set(series.counted)
  return series.steps.flatMap((step) => {
    const [value, target] = [valueAt(recorded, step, series), valueAt(replay, step, series)]
    if (typeof target !== 'number') return []
    const reference = typeof value === 'number' ? value : Number.NaN
    const point = { step, replay: number, reference, target, isWarmUp: !countedSteps.has(step) }
    return [{ ...point, ...judgePoint(series.rule, point, noise?.get(step) ?? null) }]
  })
}

type Bare = Pick<JudgedPoint, 'reference' | 'target' | 'isWarmUp'>

function judgePoint(rule: MetricRule, { reference, target, isWarmUp }: Bare, noise: StepNoise | null) {
  if (isWarmUp) return { ...NO_LIMITS, passes: Number.isFinite(target) }
  if (!Number.isFinite(reference)) return { ...NO_LIMITS, passes: false }
  const limits = computeLimits(rule, reference, noise)
  return { ...limits, passes: passesRule(rule, limits, reference, target) }
}

function countBeyond(points: readonly JudgedPoint[], maxOutliers: number): JudgedSeries['beyond'] {
  const counted = points.filter(({ isWarmUp }) => !isWarmUp)
  // A part such as 0.29 of 100 is 29, not the 28.999… that doubles make of it.
  const allowed = Math.floor(maxOutliers * counted.length + 1e-9)
  const beyond = counted.filter(({ passes, reference }) => !passes && Number.isFinite(reference))
  return { count: beyond.length, of: counted.length, allowed }
}

function withinBudget({ count, of, allowed }: JudgedSeries['beyond']): string {
  return count === 0 ? '' : `${count} of ${of} beyond, ${allowed} allowed`
}

function recordingFaults(series: Series, recordings: readonly Recording[], samples: SeedSamples | null): Fault[] {
  const faults: string[] = []
  const broken = brokenStep(series, recordings[0]!, series.steps)
  if (broken) faults.push(`the recording itself is not finite, ${broken}; gather again`)
  if (series.counted.length === 0)
    faults.push(`all ${series.steps.length} recorded steps are warm-up; lower warmup_steps or record more`)
  else if (!broken && needsSeeds(series.rule) && samples === null) faults.push(seedFault(series, recordings))
  return faults.map((reason) => ({ verdict: 'error', reason }))
}

function seedFault(series: Series, recordings: readonly Recording[]): string {
  const least = leastSamples(series.rule.tolerance)
  if (recordings.length < least) return `${recordings.length} samples, at least ${least} are needed`
  const place = recordings.findIndex((recording) => brokenStep(series, recording, series.counted) !== null)
  if (place < 0) return 'the samples are too large to be averaged'
  return `sample ${place} of the recording is not finite, ${brokenStep(series, recordings[place]!, series.counted)}; gather again`
}

/** `NaN at step 6`, of the first step that has no finite number. */
function brokenStep(series: Series, recording: Recording, steps: readonly number[]): string | null {
  const step = steps.find((at) => !isFiniteNumber(valueAt(recording, at, series)))
  if (step === undefined) return null
  const value = valueAt(recording, step, series)
  if (value === undefined) return `nothing at step ${step}`
  return `${typeof value === 'number' ? value : `"${cleanText(value, 40)}"`} at step ${step}`
}

type Replayed = Pick<JudgedSeries, 'points' | 'beyond' | 'replayNames'>

function replayFaults({ points, beyond, replayNames }: Replayed, expected: number): Fault[] {
  const faults: string[] = []
  const wild = points.filter(({ target }) => !Number.isFinite(target))
  if (wild.length > 0)
    faults.push(`${wild[0]!.target} at ${stepList(wild.map(({ step }) => step))}${sharedOut(wild, replayNames)}`)
  const wildCounted = wild.filter(({ isWarmUp, reference }) => !isWarmUp && Number.isFinite(reference)).length
  const count = beyond.count - wildCounted
  if (count > beyond.allowed) faults.push(beyondText({ points, beyond, replayNames }, count))
  const missing = expected - points.length
  if (missing > 0) faults.push(`${missing} of ${expected} values are missing`)
  return faults.map((reason) => ({ verdict: 'fail', reason }))
}

/** `2 of 8 beyond (seed 22: 2), 1 allowed; worst at step 7 of seed 22: 1.2, limit ≤ 1.05` */
function beyondText({ points, beyond: { of, allowed }, replayNames }: Replayed, count: number): string {
  const finite = points.filter(({ passes, target }) => !passes && Number.isFinite(target))
  const budget = allowed > 0 ? `, ${allowed} allowed` : ''
  const head = `${count} of ${of} beyond${sharedOut(finite, replayNames)}${budget}`
  const worst = worstPoint(finite)
  if (worst === null || !Number.isFinite(worst.reference)) return head
  const name = replayNames[worst.replay]
  return `${head}; worst at step ${worst.step}${name === undefined ? '' : ` of ${name}`}: ${targetText(worst)}`
}

function needsSeeds({ tolerance: { kind } }: MetricRule): boolean {
  return kind === 'sigma' || kind === 'ttest'
}

/** Null: there are too few, or one of them is not finite. */
function samplesOf(series: Series, recordings: readonly Recording[]): SeedSamples | null {
  if (recordings.length < leastSamples(series.rule.tolerance) || series.counted.length === 0) return null
  const rows = finiteRows(series, recordings, recordings.length)
  return rows !== null && canAverage(rows) ? rows : null
}

function finiteRows(series: Series, recordings: readonly Recording[], least = 1): SeedSamples | null {
  const rows = recordings.map((recording) => series.counted.map((step) => valueAt(recording, step, series)))
  const finite = rows.filter((row): row is number[] => row.every(isFiniteNumber))
  return finite.length < least ? null : finite
}

function noiseOf(
  samples: SeedSamples,
  steps: readonly number[],
  sigmas: number,
  replays: number,
): Map<number, StepNoise> {
  const bands = sigmaBands(samples, sigmas, Math.max(1, replays))
  return new Map(steps.map((step, i) => [step, bands[i]!]))
}

/** Only of whole replays: a mean of fewer steps is another number. */
function judgeReplays(series: Series, samples: SeedSamples, window: CurveWindow, shares: number) {
  const { tolerance, comparison } = series.rule
  const rows = finiteRows(series, window.replays)
  if (rows === null || tolerance.kind !== 'ttest') return null
  const names = rows.length === window.replays.length ? nameReplays(window) : []
  return judgeMeans(samples, rows, comparison, tolerance.alpha / shares, names)
}

/** By step, where two seeds at least have a number. */
function spreadOf(series: Series, recordings: readonly Recording[]): NonNullable<JudgedSeries['noise']>[number][] {
  return series.steps.flatMap((step) => {
    const values = recordings.map((recording) => valueAt(recording, step, series)).filter(isFiniteNumber)
    if (values.length < 2) return []
    const { mean, deviation } = summariseSample(values)
    return [{ step, mean, deviation }]
  })
}
