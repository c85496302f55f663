import type { DType } from './dtype.ts'
import type { FailureDetail } from './errors.ts'
import type { Expectation } from './expected-failure.ts'
import type { Tolerance } from './tolerance.ts'
import type { Side, Stage, Verdict } from './verdict.ts'

export type Direction = 'lower' | 'higher'

export interface Metric {
  readonly name: string
  readonly direction: Direction
  /** null: not measured; `reason` says why. */
  readonly value: number | null
  readonly reason?: string
  readonly threshold?: number
  /** Where the threshold comes from. */
  readonly provenance?: string
  /** How many values it was computed from. */
  readonly count: number
}

/** One place where the two sides differ; values as text, so that 64-bit integers and strings stay exact. */
export interface WorstPlace {
  readonly tensor: string
  readonly index: readonly number[]
  readonly reference: string
  readonly target: string
  readonly error: number
  /** The largest error that would have been allowed there. */
  readonly allowed: number
}

export interface OutputResult {
  readonly name: string
  readonly dtype: DType | null
  readonly shape: readonly number[] | null
  readonly verdict: Verdict
  /** The rule that judged it, with its limits, in words. */
  readonly rule: string
  /** The limits of a float rule, for applying them again. */
  readonly tolerance?: Tolerance
  readonly reason?: string
  readonly flags: readonly string[]
  readonly metrics: readonly Metric[]
  readonly mismatches: { readonly count: number; readonly of: number; readonly allowed: number } | null
  /** In words: the smallest tolerance that would have passed. */
  readonly wouldPass?: string
  readonly worst: readonly WorstPlace[]
}

export interface CaseError extends FailureDetail {
  readonly stage: Stage
  readonly side?: Side
  readonly message: string
}

/** A file kept with the run under `artifacts/`, named by its content's digest. */
export interface Artifact {
  readonly name: string
  readonly path: string
  readonly bytes: number
  readonly sha256: string
}

/** How far an output moves when roundings disturb the reference. */
export interface SensitivityBand {
  readonly output: string
  readonly relL2: number
  readonly maxAbs: number
  /** The disturbance that moved it most. */
  readonly by: string
  readonly samples: number
  /** How far a healthy target may be, in multiples of the samples' distance; over 1 if roundings flip decisions. */
  readonly margin: number
}

export interface StepRecord {
  readonly title: string
  readonly stage: Stage
  readonly side?: Side
  readonly key: string | null
  readonly cached: boolean
  readonly durationMs: number
}

/** Text shown with the numbers, for example what each side wrote. */
export interface TextBlock {
  readonly title: string
  readonly lines: readonly { readonly label: string; readonly text: string }[]
}

/** One metric over some steps: as recorded, as replayed, and between which limits. */
export interface Curve {
  readonly name: string
  readonly verdict: Verdict
  readonly steps: readonly number[]
  readonly reference: readonly number[]
  /** By replay; null if a step was not logged. */
  readonly target: readonly (readonly (number | null)[])[]
  /** The names of the replays, if there are several. */
  readonly replays?: readonly string[]
  /** null where there is no limit. */
  readonly low: readonly (number | null)[]
  readonly high: readonly (number | null)[]
  /** The worst step over its limit, or else the one furthest from the reference. Missing: nothing was logged. */
  readonly furthest?: { readonly step: number; readonly replay: number }
  /** Over several seeds of the reference, where there are some. */
  readonly noise?: { readonly mean: readonly number[]; readonly deviation: readonly number[] }
}

/** A name in the first column, figures in those that the head names. */
export interface FigureTable {
  readonly head: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

/** Flag of a case whose inputs were found by trying, because the usual ones were refused or proved nothing. */
export const INPUTS_FOUND = 'inputs-found'

/** Flag of a part that these inputs never reach. */
export const NOT_REACHED = 'not-reached'

/** The whole that a case is a part of, such as a layer's model. */
export interface Part {
  /** The id of the whole's case, even if it was not selected. */
  readonly of: string
  readonly op: string
  /** Its place in the whole, from 0. */
  readonly place: number
}

export interface Result {
  readonly id: string
  readonly suite: string
  readonly model: string
  readonly scope: string
  readonly reference: string
  readonly target: string
  /** The file or folder behind the id, relative to where it was judged. */
  readonly origin?: string
  readonly part?: Part
  readonly verdict: Verdict
  readonly reason?: string
  readonly flags: readonly string[]
  readonly sameAs?: string
  readonly coverage: { readonly compared: number; readonly expected: number }
  readonly error?: CaseError
  /** What the expected-failures file says about it, and the verdict without that. */
  readonly expected?: Expectation
  /** The worst over all outputs. */
  readonly metrics: readonly Metric[]
  readonly outputs: readonly OutputResult[]
  readonly worst: readonly WorstPlace[]
  readonly band?: readonly SensitivityBand[]
  /** Lines shown for any verdict. */
  readonly figures?: readonly string[]
  /** Shown for any verdict. */
  readonly table?: FigureTable
  /** Drawn for any verdict. */
  readonly curves?: readonly Curve[]
  /** Shown if details are requested. */
  readonly texts?: readonly TextBlock[]
  /** What really ran: library version, execution provider, threads … per side. */
  readonly measurements: Readonly<Record<string, string | number>>
  readonly durationsMs: Readonly<Partial<Record<Stage, number>>>
  readonly steps: readonly StepRecord[]
  readonly artifacts: readonly Artifact[]
  /** A command line that judges just this case again. */
  readonly reproduce: string
}
