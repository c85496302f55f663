import type { Target } from '../../../domain/target.ts'
import type { DecoderShape } from '../../../models/prompts/decoder-shapes.ts'
import type { MetricName, SequenceSummary } from './contract.ts'
import type { GateJudgement, RateCount } from './gates.ts'
import { tokenNoise } from './guards.ts'
import type { ChosenLimits } from './limits.ts'
import { judgePaired } from './paired-gate.ts'
import { countOver, isRateSettled, judgeRate } from './rate-gate.ts'
import type { MeasuredSequence } from './summarise-sequence.ts'

/** How the logits of a model's targets are judged. */
export interface GateChoice {
  readonly limits: ChosenLimits
  readonly failureRate: number
  /** Metrics whose rate does not affect the verdict. */
  readonly skipped: readonly MetricName[]
  readonly way: GateWay
  /** Why it is not the default gate. */
  readonly note: string | null
}

export type GateWay =
  | { readonly name: 'rate' }
  /** What the baseline gave earlier, for each shape. */
  | {
      readonly name: 'paired'
      readonly baselineOf: (shape: DecoderShape) => readonly SequenceSummary[]
      readonly source: string
    }
  /** The baseline decodes in the same run. */
  | { readonly name: 'three-way'; readonly baseline: Target }

export interface GatedSequences {
  readonly target: readonly MeasuredSequence[]
  readonly baseline: readonly MeasuredSequence[]
  readonly shape: DecoderShape
}

export interface GateOutcome {
  /** What decides. */
  readonly judgement: GateJudgement
  /** The documented figures, whatever decides. */
  readonly rates: GateJudgement
}

export function applyGate(choice: GateChoice, { target, baseline, shape }: GatedSequences): GateOutcome {
  const summaries = summariesOf(target)
  const trusted = choice.way.name === 'paired' ? choice.way.baselineOf(shape) : summariesOf(baseline)
  const noise = trusted.length > 0 ? { noise: tokenNoise(trusted) } : {}
  const all = rateCounts(choice, target)
  const { failureRate } = choice
  const rates = judgeRate(all, summaries, { failureRate, ...noise })
  if (choice.way.name === 'rate') {
    const deciding = all.filter(({ metric }) => !choice.skipped.includes(metric))
    return { judgement: judgeRate(deciding, summaries, { failureRate, ...noise }), rates }
  }
  return { judgement: judgePaired(summaries, trusted, choice.way.name), rates }
}

function summariesOf(sequences: readonly MeasuredSequence[]): SequenceSummary[] {
  return sequences.map(({ summary }) => summary)
}

/** The documented rates are of these two. */
function rateCounts({ limits }: GateChoice, sequences: readonly MeasuredSequence[]): RateCount[] {
  const tokens = sequences.flatMap((sequence) => sequence.tokens)
  const kept = tokens.length
  return [
    {
      metric: 'diff_mean',
      threshold: limits.diffMean,
      kept,
      over: countOver(
        tokens.map(({ diffMean }) => diffMean),
        limits.diffMean,
      ),
    },
    {
      metric: 'ce',
      threshold: limits.ce,
      kept,
      over: countOver(
        tokens.map(({ ce }) => ce),
        limits.ce,
      ),
    },
  ]
}

/** The verdict can no longer change, whatever comes. */
export function isSettled(choice: GateChoice, sequences: readonly MeasuredSequence[], tokensToCome: number): boolean {
  if (sequences.some(({ summary }) => summary.nonFinite.target > 0)) return true
  if (choice.way.name !== 'rate') return false
  const deciding = rateCounts(choice, sequences).filter(({ metric }) => !choice.skipped.includes(metric))
  return isRateSettled(deciding, tokensToCome, choice.failureRate)
}
