import { median } from '../../../compare/statistics/percentile.ts'
import { type MeanBounds, meanBounds } from '../../../compare/statistics/student-t.ts'
import { formatNumber } from '../../../domain/text.ts'
import type { SequenceSummary } from './contract.ts'
import type { GateJudgement, GateName, GuardFinding } from './gates.ts'
import { guardFindings, tokenNoise } from './guards.ts'
import { countsAsMore, type Pair, pairUp, ROUNDING } from './pairs.ts'
import { doubtfulPart, worstPart } from './parts.ts'

/** How many times the baseline's error is still as good as the baseline. */
const RATIO_LIMIT = 1.25
/** A pass says with the same confidence that the target is less than this many times as noisy. */
const RATIO_EXCLUDED = 2.5
const CONFIDENCE = 0.99
const LEAST_SEQUENCES = 3

/** Less than any evaluation in float32 has: the baseline is the reference itself. */
const SILENT = 2 ** -22

/** One sequence may be this many times as bad, and so many deviations of all, before it is ruined; this is always. */
const SEQUENCE_RATIO = 4
const SEQUENCE_DEVIATIONS = 5
const RUINED_RATIO = 10

/**
 * Is the target noisier than a trusted baseline on the same prompts? The sequence is the unit, because its tokens
 * depend on each other. The error of a sequence, √ of its mean KL, grows as the noise of the logits does.
 */
export function judgePaired(
  target: readonly SequenceSummary[],
  baseline: readonly SequenceSummary[],
  gate: Extract<GateName, 'paired' | 'three-way'> = 'paired',
): GateJudgement {
  const pairs = pairUp(target, baseline)
  const bounds = pairs.length < LEAST_SEQUENCES ? null : meanBounds(logRatios(pairs), CONFIDENCE)
  const found = guardFindings(target, tokenNoise(baseline))
  const hidden = silentBaseline(pairs) ? [] : hiddenByTheMean(pairs, bounds)
  const findings = [...found, ...hidden].filter((finding) => finding !== null)
  const interval = bounds && { low: Math.exp(bounds.low), high: Math.exp(bounds.high), confidence: CONFIDENCE }
  const effect = bounds && Math.exp(bounds.mean)
  const isAtMost = pairs.some(countsAsMore)
  const shared = { gate, count: pairs.length, effect, isAtMost, interval, limit: RATIO_LIMIT, rates: [], findings }
  return { ...shared, ...decide(shared, target, baseline, pairs) }
}

/** `0.97 times the baseline's error on 32 sequences, 99 % bounds 0.91 and 1.02` */
export function effectText({ effect, isAtMost, interval, count }: Effect): string {
  if (effect === null || interval === null) return `${count} sequences, too few for a ratio`
  const times = `${isAtMost ? 'at most ' : ''}${formatNumber(effect, 3)} times the baseline's error on ${count} sequences`
  return `${times}, 99 % bounds ${bound(interval.low)} and ${bound(interval.high)}`
}

type Effect = Pick<GateJudgement, 'effect' | 'isAtMost' | 'interval' | 'count'>

const bound = (value: number | null) => (value === null ? '?' : formatNumber(value, 3))

type Decision = Pick<GateJudgement, 'verdict' | 'reason'>

function decide(
  effect: Effect & Pick<GateJudgement, 'findings'>,
  target: readonly SequenceSummary[],
  baseline: readonly SequenceSummary[],
  pairs: readonly Pair[],
): Decision {
  const { interval, findings } = effect
  const guard = findings.find(({ verdict }) => verdict === 'error') ?? findings[0]
  if (guard) return guard
  const doubt = brokenBaseline(baseline) ?? tooFew(target, pairs)
  if (doubt) return doubt
  const words = effectText(effect)
  if (pairs.every(({ target: error }) => error <= ROUNDING))
    return { verdict: 'pass', reason: 'the target equals the reference except for rounding in float32' }
  const silent = silentBaseline(pairs)
  if (silent) return silent
  if (interval!.low! > RATIO_LIMIT) return { verdict: 'fail', reason: `${words}: over ${RATIO_LIMIT}` }
  const unsure = interval!.high! < RATIO_EXCLUDED ? doubtfulPart(pairs) : words
  return unsure
    ? { verdict: 'inconclusive', reason: `${unsure}: too few to tell; give more prompts` }
    : { verdict: 'pass', reason: words }
}

function brokenBaseline(baseline: readonly SequenceSummary[]): Decision | null {
  const broken = baseline.findIndex(({ error, missing }) => Number.isNaN(error) || missing > 0)
  if (broken < 0) return null
  return { verdict: 'error', reason: `the baseline gives logits that are not numbers, or none, in sequence ${broken}` }
}

function tooFew(target: readonly SequenceSummary[], pairs: readonly Pair[]): Decision | null {
  const all = new Set(target.map(({ prompt }) => prompt)).size
  const of = `${pairs.length} of ${all} sequences have a partner in the baseline`
  if (pairs.length < LEAST_SEQUENCES)
    return { verdict: 'inconclusive', reason: `${of}, at least ${LEAST_SEQUENCES} are needed; give more prompts` }
  if (2 * pairs.length < all)
    return { verdict: 'inconclusive', reason: `${of}; capture the baseline again with the same prompts` }
  return null
}

/** A baseline without noise says nothing about the noise that the target may have. */
function silentBaseline(pairs: readonly Pair[]): Decision | null {
  if (median(pairs.map(({ baseline }) => baseline))! > SILENT) return null
  const reason = 'the baseline gives the same as the reference, so it shows no noise to compare with'
  return { verdict: 'inconclusive', reason: `${reason}; use one with the target's precision, or the rate gate` }
}

const logRatios = (pairs: readonly Pair[]) => pairs.map(({ logRatio }) => logRatio)

/** Faults that a mean over many sequences hides. */
function hiddenByTheMean(pairs: readonly Pair[], bounds: MeanBounds | null): (GuardFinding | null)[] {
  const isOver = bounds === null || bounds.low > Math.log(RATIO_LIMIT)
  return [isOver ? null : worstPart(pairs, RATIO_LIMIT, CONFIDENCE), ruinedSequence(pairs)]
}

function ruinedSequence(pairs: readonly Pair[]): GuardFinding | null {
  const ratios = logRatios(pairs)
  const usual = median(ratios) ?? 0
  const middle = Math.min(Math.max(0, usual), Math.log(RATIO_LIMIT))
  const deviation = 1.4826 * (median(ratios.map((ratio) => Math.abs(ratio - usual))) ?? 0)
  const wide = Math.max(Math.log(SEQUENCE_RATIO), SEQUENCE_DEVIATIONS * deviation)
  const limit = middle + Math.min(wide, Math.log(RUINED_RATIO))
  const ruined = pairs.filter(({ logRatio }) => logRatio > limit).sort((a, b) => b.logRatio - a.logRatio)
  const [worst] = ruined
  if (!worst) return null
  const times = `${formatNumber(Math.exp(worst.logRatio), 3)} times the baseline's error`
  const reason = `${times} on one prompt, ${formatNumber(Math.exp(usual), 3)} on the median one; sequence ${worst.place}`
  return { kind: 'sequence', verdict: 'fail', sequence: worst.place, step: null, count: ruined.length, reason }
}
