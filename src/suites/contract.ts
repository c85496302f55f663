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
  /** All options of its command, including those that every suite has. */
  readonly options: OptionTable
  /** Its options by title, as help and `assay config` show them. */
  readonly groups?: OptionGroups
  /** Its options that are in a section of the configuration; the others are at the top level. */
  readonly section?: OptionSection
  /** What else the configuration says for it. */
  readonly sections?: readonly ConfigSection[]
  /** The configuration names something for it, so `assay run` judges it. */
  isConfigured(config: Config): boolean
  /** Loads most of its code, which is not needed to report a mistake in another command. */
  load(): Promise<SuiteWork<Values, Config, Asked>>
}

export interface OptionSection {
  readonly key: string
  readonly options: OptionTable
}

/** A key of the configuration that is not an option. */
export interface ConfigSection {
  readonly key: string
  /** Above its lines in `assay config`. */
  readonly title: string
  load(): Promise<SectionRules>
}

/** The folder of a configuration, and the folder where a command is started. */
export interface ConfigPlace {
  readonly folder: string
  readonly cwd: string
  /** Makes a path of the configuration relative to the current folder. */
  readonly moved: (path: string) => string
}

export interface SectionRules {
  /** Refuses invalid content; the message starts with `where`. */
  check(written: unknown, where: string): void
  /** The same content, with paths relative to the current folder. */
  locate?(written: unknown, place: ConfigPlace): unknown
  /** As `assay config` shows it; absent: one line for each entry. */
  rows?(written: unknown): readonly SectionRow[]
}

export interface SectionRow {
  readonly key: string
  /** Its place in the section, such as `.match.name` or `[2]`. */
  readonly place: string
  readonly value: unknown
  /** How a person would write the value, if the configuration writes it differently. */
  readonly text?: string
}

/** What was asked of a suite, before anything is known about what it judges. */
export interface SuiteRequest<Values = unknown, Config = unknown> {
  readonly command: string
  readonly cwd: string
  readonly environment: Environment
  /** Arguments of the command line, such as paths; none if the configuration asks. */
  readonly words: readonly string[]
  /** True for `assay run`, which judges what the configuration names. */
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
  /** Created on first use. */
  pool(): Promise<Pool>
  /** Does something once for all suites of the run. */
  once<T>(key: string, make: () => Promise<T>): Promise<T>
  /** Only ids are listed; nothing is judged. */
  readonly lists: boolean
  /** Of the models found only these, by path, such as those that changed. */
  readonly only?: readonly string[]
  /** True after the first run of `--watch`: output folders hold the files of the run before. */
  readonly isAgain: boolean
  /** The machine and the versions, for the record. */
  readonly machine: Readonly<Record<string, string>>
  readonly notice: Notice
  /** Called with the output of tools as it arrives. */
  readonly onOutput?: LaunchContext['onOutput']
}

export interface Planned {
  readonly suites: readonly Suite[]
  /** Settings that affect verdicts; they must be the same in all shards of a run. */
  readonly choices: object
  /** Notes about cases, read when the run has ended. */
  readonly notes?: () => CaseNotes
  /** Message for an interrupted run. */
  readonly ifInterrupted?: string
}

/** What is printed instead of a run, and the exit code. */
export interface Answer {
  readonly lines: readonly string[]
  readonly exitCode: number
}

/** Files that a verdict depends on and a person may change. */
export interface WatchedFiles {
  /** Model → its files. */
  readonly models: ReadonlyMap<string, readonly string[]>
  /** Other files that all cases depend on. */
  readonly others: readonly string[]
}

export interface SuiteWork<Values = unknown, Config = unknown, Asked = unknown> {
  /** Refuses invalid requests before anything runs. If absent, the request itself is planned. */
  read?(request: SuiteRequest<Values, Config>): Asked
  plan(asked: Asked, context: PlanContext): Promise<Planned>
  /** Values that replace the given ones. */
  settled?(asked: Asked): Partial<Values>
  /** Why nothing was found. If absent, the message says that there are no matching cases. */
  whyNothing?(asked: Asked): string
  /** Arguments of the command that judges a case again. If absent, the given ones. */
  words?(asked: Asked): readonly string[]
  /** Words after its options, for the command that judges a case again. */
  repeatedWords?(asked: Asked): readonly string[]
  /** Answers without a run; null if a run is needed. */
  answer?(asked: Asked, context: PlanContext, selected: () => Promise<readonly string[]>): Promise<Answer | null>
  /** Lists the files that `--watch` checks. */
  watches?(asked: Asked): Promise<() => Promise<WatchedFiles>>
}
