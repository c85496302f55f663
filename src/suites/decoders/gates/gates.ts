import type { Interval } from '../../../compare/statistics/binomial.ts'
import type { Verdict } from '../../../domain/verdict.ts'
import type { MetricName } from './contract.ts'

export type GateName = 'paired' | 'rate' | 'three-way'

/** The verdict of a gate on a target, with its numbers. */
export interface GateJudgement {
  readonly gate: GateName
  readonly verdict: Extract<Verdict, 'pass' | 'fail' | 'error' | 'inconclusive'>
  /** In words: what decided. */
  readonly reason: string
  /** How many sequences, or tokens of the `rate` gate, it was judged on. */
  readonly count: number
  /** The target's error as a multiple of the baseline's; null: not measured. */
  readonly effect: number | null
  /** Some of the target's errors count as larger than they are, so that the effect may be smaller. */
  readonly isAtMost?: boolean
  /** Each bound holds with this confidence on its own side. */
  readonly interval: Interval | null
  /** What the lower bound of the effect must not be over; of the `rate` gate, what every rate must be below. */
  readonly limit: number
  readonly rates: readonly Rate[]
  readonly findings: readonly GuardFinding[]
}

/** How many tokens are at or over the threshold of a metric. */
export interface RateCount {
  readonly metric: MetricName
  readonly threshold: number
  readonly over: number
  readonly kept: number
}

export interface Rate extends RateCount {
  readonly rate: number
  /** As if tokens were independent, which those of one sequence are not. */
  readonly interval: Interval
}

/** Something that no average may hide. */
export interface GuardFinding {
  readonly kind:
    | 'non-finite'
    | 'broken-reference'
    | 'short'
    | 'kept-nothing'
    | 'token'
    | 'tokens'
    | 'flip'
    | 'sequence'
    | 'part'
  readonly verdict: 'fail' | 'error'
  /** The worst: its place in the list of sequences, and the token from 0 where it is one. */
  readonly sequence: number
  readonly step: number | null
  /** How many sequences have it. */
  readonly count: number
  readonly reason: string
}
