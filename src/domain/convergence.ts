/** The values of one metric at one step, by label, as logged. */
export type LoggedValues = Readonly<Record<string, string>>

/** Metrics of one step by name. */
export type LoggedMetrics = Readonly<Record<string, LoggedValues>>

/** Steps in order; metrics that a step did not log are absent. */
export type Recording = ReadonlyMap<number, LoggedMetrics>

/** The entries of a log, in order. */
export type LogEvent =
  /** `step`: the last one before it, where metrics come from a file and only the stream's lines can tell. */
  | { readonly kind: 'save'; readonly checkpoint: string; readonly step?: number }
  | { readonly kind: 'step'; readonly step: number; readonly metrics: LoggedMetrics }

export const OPERATORS = ['==', '!=', '<=', '<', '>=', '>'] as const
export type Operator = (typeof OPERATORS)[number]

/**
 * How far a replay may be from what was recorded. `isclose` is the documented margin, with |e − t| ≤ m·max(|e|, |t|);
 * `margin` is m times the recorded value beyond it on the worse side; `sigma` and `ttest` know several seeds.
 */
export type MetricTolerance =
  | { readonly kind: 'isclose' | 'margin' | 'rel' | 'abs'; readonly margin: number }
  | { readonly kind: 'exact' }
  | { readonly kind: 'sigma'; readonly sigmas: number }
  | { readonly kind: 'ttest'; readonly alpha: number }

export const TOLERANCE_KINDS = ['isclose', 'margin', 'rel', 'abs', 'exact', 'sigma', 'ttest'] as const

/** The rule for one metric, for all its labels. */
export interface MetricRule {
  readonly comparison: Operator
  readonly tolerance: MetricTolerance
  /** How many steps of a window need only exist and be finite. */
  readonly warmUpSteps: number
  /** The share of a window's steps that may exceed the limit, from 0 to 1. */
  readonly maxOutliers: number
}
