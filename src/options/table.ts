import type { Kind } from './kinds.ts'

/** What a shell may offer for a value: fixed words, or something that is looked up on demand. */
export type Completes = 'targets' | 'keywords' | 'patterns' | 'reporters' | 'files' | 'folders' | readonly string[]

/** One option, declared once: parser, environment, configuration, help, docs and completion all read this. */
export interface Option<T = unknown> {
  readonly flags: string
  readonly kind: Kind<T>
  /** Absent: without a value it is undefined. */
  readonly default?: T
  readonly help: string
  readonly aliases?: readonly string[]
  /** Spellings in the documentation of other tools. They work, and a note says once how Assay spells it. */
  readonly documented?: readonly string[]
  /** Its environment variable in the documentation of other tools. */
  readonly variable?: string
  /** Accepted because documented command lines have it; says why it has no effect. */
  readonly withoutEffect?: string
  /** Known because documented command lines have it; says why it is refused. */
  readonly refused?: string
  /** Has a --no- form. */
  readonly negatable?: true
  /** Makes no sense in a configuration file or in the environment. */
  readonly commandLineOnly?: true
  /** Cannot be in the configuration file, because it decides whether one is loaded. */
  readonly outsideFile?: true
  readonly completes?: Completes
  /** Affects results, so the reproduce command names it. */
  readonly repeated?: true
}

/** The options of a command or suite by key. `any`: a table holds kinds of all types, and `Values` tells them apart. */
// biome-ignore lint/suspicious/noExplicitAny: Option<string> is not an Option<unknown>, since its kind also writes values
export type OptionTable = Readonly<Record<string, Option<any>>>

export interface OptionSpec extends Option {
  readonly key: string
}

type ValueOf<O> = O extends { readonly kind: Kind<infer T> }
  ? O extends { readonly default: unknown }
    ? T
    : T | undefined
  : never

/** Options of a command by the title that help and `assay config` show above them. */
export type OptionGroups = Readonly<Record<string, OptionTable>>

/** The values of a table, typed by its kinds. */
export type Values<T extends OptionTable> = { readonly [K in keyof T]: ValueOf<T[K]> }

export function listSpecs(table: OptionTable): OptionSpec[] {
  return Object.entries(table).map(([key, option]) => ({ key, ...option }))
}

export function pick<T extends OptionTable, const K extends keyof T>(table: T, keys: readonly K[]): Pick<T, K> {
  return entriesWhere(table, (key) => keys.some((each) => each === key)) as Pick<T, K>
}

/** The same options, each marked as part of the reproduce command. */
export function repeated<T extends OptionTable>(table: T): T {
  return Object.fromEntries(Object.entries(table).map(([key, option]) => [key, { ...option, repeated: true }])) as T
}

export function omit<T extends OptionTable, const K extends keyof T>(table: T, keys: readonly K[]): Omit<T, K> {
  return entriesWhere(table, (key) => !keys.some((each) => each === key)) as Omit<T, K>
}

function entriesWhere(table: OptionTable, isWanted: (key: string) => boolean): OptionTable {
  return Object.fromEntries(Object.entries(table).filter(([key]) => isWanted(key)))
}

/** The long flag, as in `--output-dir`. */
export function nameFlag({ flags }: Pick<Option, 'flags'>): string {
  return /--[a-z-]+/.exec(flags)?.[0] ?? flags.split(/[ ,]/)[0]!
}

/** The flag as users type it: `-t` of `-t, --test-config-path <file>`. */
export function firstFlag({ flags }: Pick<Option, 'flags'>): string {
  return flags.split(/[ ,]/)[0]!
}

export function environmentName(key: string): string {
  return `ASSAY_${key.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`
}

/** Whether help and docs name its default. */
export function hasShownDefault({ default: usual }: Option): boolean {
  return usual !== undefined && usual !== false && !(Array.isArray(usual) && usual.length === 0)
}
