import type { Part, Result } from '../domain/result.ts'
import type { PlannedCase } from '../domain/run.ts'
import type { Side, Stage } from '../domain/verdict.ts'

/** Digest over the content of everything that went into a step: 16 or more letters, digits, `-` or `_`. */
export type ContentKey = string

export interface StepSpec {
  readonly title: string
  readonly stage: Stage
  readonly side?: Side
  /** null: the product cannot be trusted to be the same next time, so every asker makes its own. */
  readonly key: ContentKey | null
  /** What the key was made of, in words, so that a later run can say what changed. */
  readonly from?: KeyParts
  /** false: it needs no folder, and gets none. */
  readonly files?: false
}

export type KeyParts = Readonly<Record<string, string>>

/** Work of an earlier stage that a step began with: a model is compiled before it runs. */
export interface Opening {
  readonly title: string
  readonly stage: Stage
  readonly durationMs: number
}

/** The product of a step: a JSON value and the folder with its files (removed after the case where key is null). */
export interface Product<T> {
  readonly value: T
  readonly folder: string
  readonly cached: boolean
}

/** A folder for files that outlive the case but not the run. */
export interface RunFolder {
  readonly path: string
  remove(): Promise<void>
}

/** Where a case's work is done: the first asker of a key does it, others await it. */
export interface Lab {
  /** `make` fills the folder and gives plain data (no Map, no class); it must not ask for steps itself. */
  step<T>(
    spec: StepSpec,
    make: (folder: string) => Promise<T>,
    openings?: (value: T) => readonly Opening[],
  ): Promise<Product<T>>
  /**
   * A folder for so many bytes that the run needs and nobody later: in memory if with them the run has at most `mostBytes`
   * there, on the disk otherwise. It stays until it is removed or the run ends.
   */
  makeFolder(bytes: number, mostBytes: number): Promise<RunFolder>
  /** `--keep`: what a case leaves behind is wanted even where it passes. */
  readonly keepsAll: boolean
  /** Says how far the step under way is, to whoever watches; may be called as often as one likes. */
  progress(text: string): void
  /** Keeps a file with the run, by its content. */
  keep(name: string, path: string): Promise<void>
  /** Aborted when the case runs out of time or the run is to end now. */
  readonly signal: AbortSignal
}

export interface Case extends PlannedCase {
  /** Parts are judged after their whole, as they follow each other in it. */
  readonly part?: Part
  /** Its place among the cases of its model, where their ids do not sort so. */
  readonly place?: number
  /** The file or folder that its id stands for here: an id that stands for another one is another case. */
  readonly origin?: string
  /** What it must have to itself, such as a device or a file: of the cases that name it one is judged at a time. */
  readonly exclusive?: readonly string[]
  /** Rough cost in milliseconds where nothing was measured. */
  readonly estimateMs?: number
  /** Digest of what it is judged on; part of the plan's digest, so that shards of different models do not merge. */
  readonly content?: ContentKey
}

/** The parts of a result that the suite knows; ids, steps, durations, artifacts and the command that judges it again are added by the run. */
export type Judgement = Pick<
  Result,
  'verdict' | 'flags' | 'coverage' | 'metrics' | 'outputs' | 'worst' | 'measurements'
> &
  Partial<Pick<Result, 'reason' | 'sameAs' | 'error' | 'band' | 'figures' | 'table' | 'curves' | 'texts'>> & {
    /** Others have a say in it: asked when all cases of the run are judged. */
    readonly settle?: Settle
  }

/** What the verdict is in the light of the other cases' results, as far as they were judged. */
export type Settle = (results: ReadonlyMap<string, Result>) => Partial<Pick<Result, 'verdict' | 'reason'>>

/** What it collects is what it is given to judge. */
export interface Suite<C extends Case = Case> {
  readonly name: string
  collect(): AsyncIterable<C>
  /** What will be judged of what it collected, in order; told before the first, and only if cases may share their work. */
  expect?(cases: readonly C[]): void
  judge(c: C, lab: Lab): Promise<Judgement>
}
