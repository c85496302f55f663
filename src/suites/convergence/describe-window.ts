import type { Curve, Metric, OutputResult, WorstPlace } from '../../domain/result.ts'
import type { JudgedPoint, JudgedSeries, WindowJudgement } from './curves/contract.ts'
import { furthestPoint, worstFirst } from './curves/worst-point.ts'

const WORST_PLACES = 5

/** A metric under one label as the record shows it. */
export function describeSeries(series: JudgedSeries): OutputResult {
  const { name, verdict, rule, reason, beyond } = series
  return {
    name,
    dtype: null,
    shape: null,
    verdict,
    rule,
    ...(reason !== undefined && { reason }),
    flags: [],
    metrics: metricsOf(series),
    mismatches: beyond.of > 0 ? beyond : null,
    worst: worstOf(series),
  }
}

function metricsOf({ points, statistic }: JudgedSeries): Metric[] {
  const counted = points.filter(({ isWarmUp }) => !isWarmUp)
  if (counted.length === 0 || counted.some(({ reference, target }) => Number.isNaN(target - reference))) return []
  const relative = counted.filter(({ reference }) => reference !== 0)
  const differences = [
    largest('max_rel', relative, (point) => differenceOf(point) / Math.abs(point.reference)),
    largest('max_abs', counted, differenceOf),
  ]
  return statistic ? [statisticOf(statistic), ...differences] : differences
}

function largest(name: string, points: readonly JudgedPoint[], measure: (point: JudgedPoint) => number): Metric {
  const base = { name, direction: 'lower', count: points.length } as const
  if (points.length === 0) return { ...base, value: null, reason: 'every recorded value is zero' }
  return { ...base, value: points.reduce((most, point) => Math.max(most, measure(point)), 0) }
}

function differenceOf({ reference, target }: JudgedPoint): number {
  return Math.abs(target - reference)
}

/** A limit below 0 is the least that it may be. */
function statisticOf({ name, value, limit, count }: NonNullable<JudgedSeries['statistic']>): Metric {
  return { name, direction: limit < 0 ? 'higher' : 'lower', value, threshold: limit, count }
}

function worstOf({ name, points, replayNames }: JudgedSeries): WorstPlace[] {
  const beyond = points.filter(({ passes, isWarmUp }) => !passes && !isWarmUp)
  const shown = worstFirst(beyond).slice(0, WORST_PLACES)
  return shown.map((point) => ({
    tensor: replayNames[point.replay] ?? name,
    index: [point.step],
    reference: String(point.reference),
    target: String(point.target),
    error: differenceOf(point),
    allowed: allowedOf(point),
  }))
}

/** The difference that would still have passed on the side where the target is. */
function allowedOf({ reference, target, low, high }: JudgedPoint): number {
  if (high !== null && target > high) return Math.max(0, high - reference)
  if (low !== null && target < low) return Math.max(0, reference - low)
  const limit = target > reference ? high : low
  return limit === null ? 0 : Math.abs(limit - reference)
}

/** Points that a curve keeps; a terminal and a page draw no more. */
const MOST_POINTS = 512

export function traceCurve({ name, verdict, points, replayNames, noise }: JudgedSeries, replays: number): Curve {
  const furthest = furthestPoint(points)
  const pointsAt = byStep(points)
  const steps = thinned(
    [...pointsAt.keys()].sort((a, b) => a - b),
    furthest?.step,
  )
  const first = (step: number) => pointsAt.get(step)![0]!
  const of = (step: number, replay: number) => pointsAt.get(step)!.find((point) => point.replay === replay)
  const noiseAt = new Map(noise?.map((entry) => [entry.step, entry]))
  return {
    name,
    verdict,
    steps,
    reference: steps.map((step) => first(step).reference),
    target: Array.from({ length: replays }, (_, replay) => steps.map((step) => of(step, replay)?.target ?? null)),
    low: steps.map((step) => first(step).low),
    high: steps.map((step) => first(step).high),
    ...(replayNames.length > 0 && { replays: replayNames }),
    ...(furthest && { furthest: { step: furthest.step, replay: furthest.replay } }),
    ...(noise && {
      noise: {
        mean: steps.map((step) => noiseAt.get(step)?.mean ?? Number.NaN),
        deviation: steps.map((step) => noiseAt.get(step)?.deviation ?? Number.NaN),
      },
    }),
  }
}

/** An index by step, because a window may have many. */
function byStep(points: readonly JudgedPoint[]): Map<number, JudgedPoint[]> {
  const found = new Map<number, JudgedPoint[]>()
  for (const point of points) {
    const known = found.get(point.step)
    if (known) known.push(point)
    else found.set(point.step, [point])
  }
  return found
}

/** Evenly, the first, the last and the one to be looked at among them. */
function thinned(steps: readonly number[], kept: number | undefined): number[] {
  if (steps.length <= MOST_POINTS) return [...steps]
  const even = new Set(
    Array.from({ length: MOST_POINTS }, (_, i) => Math.round((i * (steps.length - 1)) / (MOST_POINTS - 1))),
  )
  return steps.filter((step, i) => even.has(i) || step === kept)
}

/** All problems, worst first: missing values, then numbers. */
export function explainWindow({ problems, series }: WindowJudgement): string | undefined {
  const numbers = series
    .filter(({ verdict }) => verdict !== 'pass')
    .map(({ name, reason }) => `${name}: ${reason ?? 'not as recorded'}`)
  const all = [...problems, ...numbers]
  return all.length === 0 ? undefined : all.join('; ')
}
