import { rateInterval } from '../../../compare/statistics/binomial.ts'
import { UsageError } from '../../../domain/errors.ts'
import { formatNumber } from '../../../domain/text.ts'
import type { SequenceSummary } from './contract.ts'
import type { GateJudgement, Rate, RateCount } from './gates.ts'
import { guardFindings, type TokenNoise } from './guards.ts'

/** Documented: fewer than one token in a hundred. */
const FAILURE_RATE = 0.01
const CONFIDENCE = 0.98

/** Tokens that are not below the threshold; NaN is not. In float32, as metrics are stored and thresholds learnt. */
export function countOver(values: Iterable<number>, threshold: number): number {
  let over = 0
  for (const value of values) if (!(Math.fround(value) < threshold)) over++
  return over
}

export interface RateOptions {
  /** Every rate must be below it. */
  readonly failureRate?: number
  /** What single tokens of a baseline do, where there is one. */
  readonly noise?: TokenNoise
}

/** The documented gate: the rate of tokens at or over a threshold, for each metric. */
export function judgeRate(
  counts: readonly RateCount[],
  sequences: readonly SequenceSummary[],
  { failureRate = FAILURE_RATE, noise }: RateOptions = {},
): GateJudgement {
  for (const count of counts) checkCount(count)
  const rates = counts.map(rateOf)
  const findings = guardFindings(sequences, noise ?? null)
  const high = rates.filter(({ rate }) => !(rate < failureRate))
  const guard = findings.find(({ verdict }) => verdict === 'error') ?? findings[0]
  const shared = {
    gate: 'rate',
    count: Math.max(0, ...counts.map(({ kept }) => kept)),
    effect: null,
    interval: null,
    limit: failureRate,
    rates,
    findings,
  } as const
  if (guard) return { ...shared, verdict: guard.verdict, reason: guard.reason }
  if (counts.length === 0) return { ...shared, verdict: 'inconclusive', reason: 'no metric has a threshold' }
  const reason = rateWords(high.length > 0 ? high : rates, failureRate)
  return { ...shared, verdict: high.length > 0 ? 'fail' : 'pass', reason }
}

function checkCount({ metric, threshold }: RateCount): void {
  if (Number.isFinite(threshold)) return
  throw new UsageError(
    'threshold',
    `the threshold of ${metric} is ${threshold}; give a number, learnt by assay thresholds`,
  )
}

function rateOf(count: RateCount): Rate {
  const { over, kept } = count
  return { ...count, rate: over / kept, interval: rateInterval(over, kept, CONFIDENCE) }
}

function rateWords(rates: readonly Rate[], limit: number): string {
  const each = rates.map(
    ({ metric, over, kept, rate, threshold }) =>
      `${over} of ${kept} tokens have ${metric} at or over ${formatNumber(threshold)} (rate ${formatNumber(rate)}, limit ${limit})`,
  )
  return each.join('; ')
}

/**
 * Whatever the tokens that are still to come give, the verdict is fixed: a rate that stays over its limit even if all
 * of them are below the threshold. That it will pass is never certain before the end, because one token can fail it.
 */
export function isRateSettled(
  counts: readonly Pick<RateCount, 'over' | 'kept'>[],
  tokensToCome: number,
  failureRate = FAILURE_RATE,
): boolean {
  return tokensToCome === 0 || counts.some(({ over, kept }) => over / (kept + tokensToCome) >= failureRate)
}
