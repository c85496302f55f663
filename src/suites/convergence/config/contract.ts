import type { MetricRule, Recording } from '../../../domain/convergence.ts'

/** A flag of the program: its key, and its value as written unless Assay fills it in. */
export interface Flag {
  readonly key: string
  readonly value?: string
}

/** How one value is found in a log. */
export type Finder =
  | {
      readonly kind: 'pattern'
      readonly source: string
      readonly flags: string
      readonly labels: readonly string[] | null
    }
  /** Fields of a JSON line, CSV columns or TensorBoard tags, by label. */
  | { readonly kind: 'fields'; readonly fields: Readonly<Record<string, string>> }

/** Where metrics are read: lines of a stream, or files that the program writes. */
export type LogSource =
  | { readonly kind: 'lines' | 'jsonl' }
  /** Relative to the program's folder; `{checkpoints}` stands for where checkpoints go. */
  | { readonly kind: 'jsonl-file' | 'csv' | 'tensorboard'; readonly path: string }

/** What is looked for in a log; plain data, so that it can be sent to a thread. */
export interface Parsing {
  readonly source: LogSource
  /** TensorBoard's events have their own step, so there it has no fields. */
  readonly stepNum: Finder
  /** Where metrics come from a file: the step number on lines of the stream, which says when a model was saved. */
  readonly lineStepNum?: Finder
  readonly modelSave: Finder
  readonly metrics: Readonly<Record<string, Finder>>
}

/** The step that a program is told to resume at: the last step done before the save, or the next one. */
export type ResumeAt = 'last_step' | 'next_step'

/** What replays can show about a program whose configuration has no `resume_at`. */
export type LearntStart = Extract<ResumeAt, 'next_step'>

/** One named test of a configuration file. */
export interface ConvergenceTest {
  readonly name: string
  /** As written: relative to the root. */
  readonly directory: string
  readonly executable: readonly string[]
  readonly logOutput: 'stdout' | 'stderr' | 'both'
  readonly parsing: Parsing
  readonly rules: Readonly<Record<string, MetricRule>>
  readonly stepsToRecord: number
  /** The documented number of steps, or of logged steps. */
  readonly recordingCounts: 'steps' | 'entries'
  readonly flags: {
    readonly common: readonly Flag[]
    readonly gather: { readonly checkpointOutput: Flag; readonly misc: readonly Flag[] }
    readonly run: {
      readonly checkpointInput: Flag
      readonly startStep: Flag
      readonly runFor: Flag
      readonly seed?: Flag
      readonly misc: readonly Flag[]
    }
  }
  /** Null if not given: then the documented last step, unless replays show that the program repeats it. */
  readonly resumeAt: ResumeAt | null
  readonly runFor: 'end' | 'count'
  readonly stepsPerUnit: number
  readonly environment: Readonly<Record<string, string>>
  readonly idleSeconds: number
  readonly totalSeconds: number | null
  readonly retries: {
    readonly attempts: number
    readonly exitCodes: readonly number[]
    readonly patterns: readonly string[]
  }
  /** Digest of what gathering depends on, without rules and without how replays are started. */
  readonly digest: string
  /** What to tell the user, such as labels that do not fit the groups. */
  readonly warnings: readonly string[]
}

/** One recording of a manifest. */
export interface ManifestEntry {
  /** As written: relative to the manifest, or to its `ckpts`. */
  readonly checkpoint: string
  readonly startStep: number
  readonly results: Recording
}

/** In the order of the file. */
export type Manifest = readonly ManifestEntry[]

export interface GitState {
  readonly commit: string
  readonly isDirty: boolean
}

/** Data that the documented manifest format has no place for, kept in a file beside it. */
export interface Sidecar {
  readonly test: string
  readonly complete: boolean
  readonly configDigest: string
  readonly gatheredAt: string
  readonly environment: Readonly<Record<string, string>>
  readonly git: GitState | null
  readonly argv: readonly string[]
  /** By start step. */
  readonly checkpoints: Readonly<Record<string, CheckpointFacts>>
  /** Windows from interrupted gatherings; all others are from `gatheredAt`. */
  readonly earlier: readonly DatedWindows[]
  /** What `assay converge accept` renewed. */
  readonly renewals: readonly DatedWindows[]
  /** Learnt from replays if the configuration does not say it; null means the documented start. */
  readonly resumeAt: LearntStart | null
}

/** Windows whose values are of one time. */
export interface DatedWindows {
  readonly at: string
  readonly startSteps: readonly number[]
  /** Also null in older files. */
  readonly git: GitState | null
}

export interface CheckpointFacts {
  readonly complete: boolean
  readonly bytes: number
  readonly sha256: string
  readonly warnings: readonly string[]
  /** The window recorded again with other seeds. */
  readonly samples: readonly { readonly seed: number; readonly results: Recording }[]
}
