import type { MetricRule, Recording } from '../../../domain/convergence.ts'
import type { Verdict } from '../../../domain/verdict.ts'

/** One window of a training curve, recorded and replayed. */
export interface CurveWindow {
  readonly rules: Readonly<Record<string, MetricRule>>
  readonly recorded: Recording
  /** The same window recorded with other seeds. */
  readonly samples: readonly Recording[]
  /** The replays to judge; several if several seeds were used. */
  readonly replays: readonly Recording[]
  /** The name of each replay, such as `seed 22`; numbered if absent. */
  readonly replayNames?: readonly string[]
  /** Windows that are judged together: a chance of being wrong is shared among them. */
  readonly windows: number
}

/** Whether low and high themselves are allowed; `outside` means that only values beyond them are. */
export type Edges = 'allowed' | 'forbidden' | 'outside'

/** One value of a replay against what was recorded. */
export interface JudgedPoint {
  readonly step: number
  /** Number of the replay, from 0. */
  readonly replay: number
  readonly reference: number
  readonly target: number
  /** What the target may be; null where there is no limit on that side. */
  readonly low: number | null
  readonly high: number | null
  readonly edges: Edges
  readonly passes: boolean
  /** A warm-up step: it must be there and finite, but its value is not judged. */
  readonly isWarmUp: boolean
}

/** All points of one metric under one label. */
export interface JudgedSeries {
  /** `loss.MLM`, or the metric's name alone where it has one label that is a number. */
  readonly name: string
  readonly metric: string
  readonly label: string
  readonly verdict: Verdict
  /** In words: `<=, margin 0.2`. */
  readonly rule: string
  readonly reason?: string
  readonly points: readonly JudgedPoint[]
  /** By number of the replay; empty where there is only one. */
  readonly replayNames: readonly string[]
  /** How many points are beyond their limits, out of how many, and how many are allowed. */
  readonly beyond: { readonly count: number; readonly of: number; readonly allowed: number }
  /** Only for series that are judged as one, such as by `ttest`: the statistic and its limit. */
  readonly statistic?: { readonly name: string; readonly value: number; readonly limit: number; readonly count: number }
  /** Mean and standard deviation over the seeds, by step; where there are several. */
  readonly noise?: readonly { readonly step: number; readonly mean: number; readonly deviation: number }[]
}

export interface WindowJudgement {
  readonly verdict: Extract<Verdict, 'pass' | 'fail' | 'error' | 'inconclusive'>
  /** What is wrong beside numbers, a sentence each: steps that are missing, metrics, labels. */
  readonly problems: readonly string[]
  readonly series: readonly JudgedSeries[]
  /** Steps that were compared, of those recorded, over all replays. */
  readonly coverage: { readonly compared: number; readonly expected: number }
}
