import { normalTail } from '../../../compare/statistics/normal.ts'
import { studentTailQuantile } from '../../../compare/statistics/student-t.ts'
import {
  compareMeans,
  rootMeanSquare,
  type SampleSummary,
  summariseSample,
} from '../../../compare/statistics/two-samples.ts'
import type { MetricTolerance, Operator } from '../../../domain/convergence.ts'
import { digitsApart, formatNumber } from '../../../domain/text.ts'
import type { JudgedSeries } from './contract.ts'

/** Fewer samples say almost nothing about a deviation. */
const LEAST_SAMPLES = 3
/** Deviations of few samples are widened by at most this factor; a larger one would excuse anything. */
const MOST_WIDENED = 3

/** Of one series: a row for each sample, a number for each step. */
export type SeedSamples = readonly (readonly number[])[]

/** Mean and deviation over the samples, by step. */
export function summariseSteps(samples: SeedSamples): SampleSummary[] {
  return samples[0]!.map((_, step) => summariseSample(samples.map((row) => row[step]!)))
}

/** False if numbers are so large that the mean or the spread overflows. */
export function canAverage(samples: SeedSamples): boolean {
  const all = [...summariseSteps(samples), summariseSample(samples.map(rowMean))]
  return all.every(({ mean, deviation }) => Number.isFinite(mean) && Number.isFinite(deviation))
}

/** How many samples a tolerance needs. */
export function leastSamples(tolerance: MetricTolerance): number {
  if (tolerance.kind === 'ttest') return LEAST_SAMPLES
  if (tolerance.kind !== 'sigma') return 1
  let count = LEAST_SAMPLES
  while (widenedSigmas(tolerance.sigmas, count, 1) > MOST_WIDENED * tolerance.sigmas) count++
  return count
}

/** The tail of a normal distribution at more sigmas is a chance that nobody can measure: from here on in proportion. */
const MOST_MEASURED = 4

/**
 * As many deviations of `count` samples as leave the chance that the normal distribution leaves beyond so many sigmas,
 * by Student's t for one more run beside their mean. Several replays share the chance.
 */
export function widenedSigmas(sigmas: number, count: number, replays: number): number {
  const measured = Math.min(sigmas, MOST_MEASURED)
  const quantile = studentTailQuantile(normalTail(measured) / replays, 2 * (count - 1))
  return (sigmas / measured) * quantile * Math.sqrt(1 + 1 / count)
}

/** What one more run may be at a step. */
export interface StepBand {
  readonly mean: number
  readonly reach: number
}

/**
 * Replays part from each other along a window, so each step has a deviation of its own; but where the few seeds
 * happen to agree, as numbers with few digits do, it is not taken for less than that of all steps. The larger of the two
 * knows more than n − 1 degrees and far less than steps that are independent; 2(n − 1) held on simulations and programs.
 */
export function sigmaBands(samples: SeedSamples, sigmas: number, replays: number): StepBand[] {
  const steps = summariseSteps(samples)
  const widened = widenedSigmas(sigmas, samples.length, replays)
  const usual = rootMeanSquare(steps.map((step) => step.deviation))
  return steps.map(({ mean, deviation }) => ({ mean, reach: Math.max(deviation, usual) * widened }))
}

interface MeansJudgement {
  readonly passes: boolean
  readonly statistic: NonNullable<JudgedSeries['statistic']>
  readonly reason: string
}

/** Part of the chance that guards single replays where there are several: their spread must not excuse one of them. */
const GUARD_PART = 0.2

/** The mean over a window's steps is one number of a run: are the replays' numbers still those of the samples? */
export function judgeMeans(
  samples: SeedSamples,
  replays: SeedSamples,
  operator: Operator,
  alpha: number,
  names: readonly string[] = [],
): MeansJudgement {
  const [reference, targets] = [summariseSample(samples.map(rowMean)), replays.map(rowMean)]
  const isAlone = targets.length === 1
  const whole = testMeans(reference, targets, operator, isAlone ? alpha : alpha * (1 - GUARD_PART))
  if (isAlone || !whole.passes) return whole
  const share = (alpha * GUARD_PART) / targets.length
  const singles = targets.map((one, i) => testMeans(reference, [one], operator, share, names[i]))
  return singles.find(({ passes }) => !passes) ?? whole
}

function rowMean(row: readonly number[]): number {
  return summariseSample(row).mean
}

function testMeans(
  reference: SampleSummary,
  targets: readonly number[],
  operator: Operator,
  alpha: number,
  name = targets.length === 1 ? '1 run' : `${targets.length} runs`,
): MeansJudgement {
  const target = summariseSample(targets)
  const { t, degrees, error } = compareMeans(reference, target)
  const isTwoSided = operator === '=='
  const isLower = isTwoSided ? t < 0 : operator === '>=' || operator === '>'
  const size = studentTailQuantile(isTwoSided ? alpha / 2 : alpha, degrees)
  const limit = isLower ? -size : size
  const statistic = { name: 't', value: t, limit, count: reference.count + target.count }
  const reason = meansText(reference, { ...target, name }, statistic, error)
  return { passes: isLower ? t >= limit : t <= limit, statistic, reason }
}

/** `mean 2.31 of 1 run, 2.21 ± 0.02 of 5 seeds: t 4.1, limit 2.9, which is a mean of 2.27` */
function meansText(reference: SampleSummary, target: Named, { value, limit }: T, error: number): string {
  const farthest = reference.mean + limit * error
  const digits = digitsApart([target.mean, reference.mean, farthest])
  const digitsOfT = digitsApart([value, limit], 3)
  const runs = `mean ${formatNumber(target.mean, digits)} of ${target.name}`
  const seeds = `${formatNumber(reference.mean, digits)} ± ${formatNumber(reference.deviation)} of ${reference.count} seeds`
  const bound = `limit ${formatNumber(limit, digitsOfT)}, which is a mean of ${formatNumber(farthest, digits)}`
  return `${runs}, ${seeds}: t ${formatNumber(value, digitsOfT)}, ${bound}`
}

type Named = SampleSummary & { readonly name: string }
type T = Pick<NonNullable<JudgedSeries['statistic']>, 'value' | 'limit'>
