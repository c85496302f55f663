import type { StaleEntry } from './expected-failure.ts'
import type { Result } from './result.ts'
import type { Counts, Stage } from './verdict.ts'

export const RUN_SCHEMA = 'assay/run@1'

export type RunState = 'running' | 'complete' | 'interrupted' | 'failed'

/** More machines than any run uses. */
export const MOST_SHARDS = 10_000

export interface Shard {
  readonly index: number
  readonly count: number
}

/** What a case is, before it is judged. */
export interface PlannedCase {
  readonly id: string
  readonly suite: string
  readonly model: string
  readonly scope: string
  readonly reference: string
  readonly target: string
  /** Cases with the same affinity share an expensive step. */
  readonly affinity: string
  /** Older spellings of the id that `-k` and `-t` also match. */
  readonly aliases: readonly string[]
}

export interface StageDurations {
  readonly totalMs: number
  readonly count: number
  readonly meanMs: number
  readonly minMs: number
}

export interface Summary {
  readonly counts: Counts
  readonly durationMs: number
  readonly stages: Readonly<Partial<Record<Stage, StageDurations>>>
  readonly exitCode: number
  /** Expected failures that match no case of the whole plan, before any selection. */
  readonly stale?: readonly StaleEntry[]
}

/** `run.json` */
export interface RunHeader {
  readonly schema: typeof RUN_SCHEMA
  readonly id: string
  readonly state: RunState
  readonly pid: number
  readonly bootId: string
  /** The process start in clock ticks since boot, if the system provides it. */
  readonly startTicks?: number
  readonly startedAt: string
  readonly heartbeatAt: string
  readonly shard: Shard | null
  readonly environment: Readonly<Record<string, string>>
  readonly options: Readonly<Record<string, unknown>>
  /** Every case of the whole run in order, before sharding; its digest tells whether two runs have the same plan. */
  readonly plan: { readonly digest: string; readonly cases: readonly string[]; readonly selected: readonly string[] }
  readonly summary: Summary | null
  /** Why the whole run failed. */
  readonly problem?: string
}

export type RunEvent =
  | { readonly type: 'run-start'; readonly run: RunHeader; readonly folder: string }
  | { readonly type: 'case-start'; readonly id: string }
  | { readonly type: 'step-start'; readonly id: string; readonly title: string; readonly stage: Stage }
  /** Progress of a long step, a few times a second at most. */
  | { readonly type: 'step-progress'; readonly id: string; readonly text: string }
  | {
      readonly type: 'case-end'
      readonly result: Result
      readonly durationMs: number
      readonly done: number
      readonly total: number
    }
  | { readonly type: 'notice'; readonly text: string }
  | { readonly type: 'run-end'; readonly run: RunHeader; readonly results: readonly Result[]; readonly folder: string }

/** Consumes the events of a run, live or replayed from its record. */
export interface Reporter {
  onEvent(event: RunEvent): void | Promise<void>
  /** Shows a line at once if it redraws part of the screen, where other output would be lost; true: it did. */
  say?(text: string): boolean
}
