import type { CaseNotes } from '../domain/case-notes.ts'
import type { Environment } from '../domain/environment.ts'
import type { CommonValues } from '../options/common-values.ts'
import type { Origin } from '../options/kinds.ts'
import type { Completes, OptionGroups, OptionTable } from '../options/table.ts'
import type { Suite } from '../runs/contract.ts'
import type { LaunchContext } from '../runtimes/contract.ts'
import type { Pool } from '../runtimes/host/pool.ts'

export type Notice = (text: string) => void

/** How people ask for a suite. Suites with the same command are judged together. */
export interface SuiteCommand {
  /** One or two words, such as `decoders test`. */
  readonly name: string
  readonly argument?: string
  readonly summary: string
  readonly completes?: Completes
}

/** A suite declares itself: from this come its command, its part of the configuration, help, docs and completion. */
export interface SuiteKind<Values = unknown, Config = unknown, Asked = unknown> {
  readonly name: string
  readonly command: SuiteCommand
  /** Everything that its command takes, those of every suite included. */
  readonly options: OptionTable
  /** Its options by title, as help and `assay config` show them. */
  readonly groups?: OptionGroups
  /** Those of its options that stand in a section of the configuration; the others stand at its top level. */
  readonly section?: OptionSection
  /** What else the configuration says for it. */
  readonly sections?: readonly ConfigSection[]
  /** The configuration names something for it, so `assay run` judges it. */
  isConfigured(config: Config): boolean
  /** Most of its code: a mistake in the command line of another one is answered without it. */
  load(): Promise<SuiteWork<Values, Config, Asked>>
}

export interface OptionSection {
  readonly key: string
  readonly options: OptionTable
}

/** A key of the configuration whose content is no option. */
export interface ConfigSection {
  readonly key: string
  /** Above its lines in `assay config`. */
  readonly title: string
  load(): Promise<SectionRules>
}

/** Where a configuration lies, and where a command is started. */
export interface ConfigPlace {
  readonly folder: string
  readonly cwd: string
  /** A path of the configuration as it is called from the current folder. */
  readonly moved: (path: string) => string
}

export interface SectionRules {
  /** Refuses what may not be in it; `where` begins the message. */
  check(written: unknown, where: string): void
  /** The same, with its paths as they are called from the current folder. */
  locate?(written: unknown, place: ConfigPlace): unknown
  /** As `assay config` shows it; absent: one line for each entry. */
  rows?(written: unknown): readonly SectionRow[]
}

export interface SectionRow {
  readonly key: string
  /** Its place in the section, such as `.match.name` or `[2]`. */
  readonly place: string
  readonly value: unknown
  /** As one would write it, where that is not how a configuration writes it. */
  readonly text?: string
}

/** What was asked of a suite, before anything is known about what it judges. */
export interface SuiteRequest<Values = unknown, Config = unknown> {
  readonly command: string
  readonly cwd: string
  readonly environment: Environment
  /** Words of the command line, such as paths; none where the configuration asks. */
  readonly words: readonly string[]
  /** `assay run` asks, for what the configuration names. */
  readonly isConfigured: boolean
  readonly values: Values
  readonly origins: Readonly<Record<string, Origin>>
  readonly common: CommonValues
  readonly config: Config
  /** The file that holds the configuration; null: there is none. */
  readonly configPath: string | null
  readonly notice: Notice
}

/** What a suite plans its cases with. */
export interface PlanContext {
  /** The first asker makes it. */
  pool(): Promise<Pool>
  /** Does something once for all suites of the run. */
  once<T>(key: string, make: () => Promise<T>): Promise<T>
  /** The ids are wanted and nothing will be judged. */
  readonly lists: boolean
  /** Of the models found only these, by path, such as those that changed. */
  readonly only?: readonly string[]
  /** `--watch` has judged it before, so folders that it writes to hold what the run before wrote. */
  readonly isAgain: boolean
  /** The machine and the versions, for the record. */
  readonly machine: Readonly<Record<string, string>>
  readonly notice: Notice
  /** What tools print, as it comes. */
  readonly onOutput?: LaunchContext['onOutput']
}

export interface Planned {
  readonly suites: readonly Suite[]
  /** What decides verdicts besides the models: all shards of a run must have the same. */
  readonly choices: object
  /** When the run has ended: what there is to say about cases besides their verdicts. */
  readonly notes?: () => CaseNotes
  /** What to say where the run is interrupted. */
  readonly ifInterrupted?: string
}

/** What is printed instead of a run, and the exit code. */
export interface Answer {
  readonly lines: readonly string[]
  readonly exitCode: number
}

/** What a verdict depends on and a person may change. */
export interface WatchedFiles {
  /** Model → its files. */
  readonly models: ReadonlyMap<string, readonly string[]>
  /** Whatever else all cases depend on. */
  readonly others: readonly string[]
}

export interface SuiteWork<Values = unknown, Config = unknown, Asked = unknown> {
  /** Refuses what makes no sense, before anything runs. Absent: the request itself is planned. */
  read?(request: SuiteRequest<Values, Config>): Asked
  plan(asked: Asked, context: PlanContext): Promise<Planned>
  /** Values that count in the place of those that were given. */
  settled?(asked: Asked): Partial<Values>
  /** Why nothing was found. Absent: no case was, or none matches. */
  whyNothing?(asked: Asked): string
  /** What it judges, as words for the command that judges a case again. Absent: as it was asked. */
  words?(asked: Asked): readonly string[]
  /** Words after its options, for the command that judges a case again. */
  repeatedWords?(asked: Asked): readonly string[]
  /** Answers without a run; null: what was asked for is a run. */
  answer?(asked: Asked, context: PlanContext, selected: () => Promise<readonly string[]>): Promise<Answer | null>
  /** What `--watch` looks at, again and again. */
  watches?(asked: Asked): Promise<() => Promise<WatchedFiles>>
}
