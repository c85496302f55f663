import { parseSeconds } from '../domain/duration.ts'
import { findEntry } from '../domain/entry.ts'
import { UsageError } from '../domain/errors.ts'
import { unknown } from '../domain/suggest.ts'

/** Where a value came from. Earlier sources win over later ones. */
export const ORIGINS = ['command line', 'environment', 'config file', 'default'] as const
export type Origin = (typeof ORIGINS)[number]

/** How the values of an option are read, checked in a configuration file, and written. */
export interface Kind<T> {
  /** `switch`: the flag takes no value; `several`: it is repeatable. */
  readonly takes: 'value' | 'switch' | 'several'
  /** Describes the values that a configuration file may hold. */
  readonly expected: string
  fits(written: unknown): boolean
  /** Reads a raw value; errors name the flag. */
  read(raw: unknown, flag: string, origin: Origin): T
  /** The value as a person would write it. */
  write(value: T): string
  /** One of several values as a person would write it, without secrets. */
  word?(one: unknown): string
  /** Rewrites a path so that it names the same file from another folder. Absent: nothing to rewrite. */
  move?(written: unknown, moved: (path: string) => string): unknown
}

const isText = (written: unknown) => typeof written === 'string'
const isTextOrNumber = (written: unknown) => isText(written) || typeof written === 'number'

export const text: Kind<string> = {
  takes: 'value',
  expected: 'text',
  fits: isText,
  read: String,
  write: (value) => value,
}

/** A file or folder. In a configuration it is relative to the file, elsewhere to the current folder. */
export const path: Kind<string> = {
  ...text,
  expected: 'a path',
  move: (written, moved) => (isText(written) ? moved(String(written)) : written),
}

/** A program: a path if it has a slash, else a name that is looked for in PATH. */
export const program: Kind<string> = {
  ...path,
  expected: 'a path, or the name of a program',
  move: (written, moved) => (hasSlash(String(written)) ? withSlash(moved(String(written))) : written),
}

const hasSlash = (given: string) => /[/\\]/.test(given)
const withSlash = (given: string) => (hasSlash(given) ? given : `./${given}`)

export const list: Kind<readonly string[]> = {
  takes: 'several',
  expected: 'text or a list of texts',
  fits: (written) => isText(written) || (Array.isArray(written) && written.every(isText)),
  read: (raw, _flag, origin) => (Array.isArray(raw) ? raw.map(String) : wordsOf(String(raw), origin)),
  write: (value) => value.join(' '),
}

/** An environment variable has no other way to hold several values. */
function wordsOf(raw: string, origin: Origin): string[] {
  return origin === 'environment' ? raw.split(/[;\s]+/).filter(Boolean) : [raw]
}

const SWITCH_WORDS: Readonly<Record<string, boolean>> = {
  '1': true,
  true: true,
  yes: true,
  on: true,
  '0': false,
  false: false,
  no: false,
  off: false,
}

export const flag: Kind<boolean> = {
  takes: 'switch',
  expected: 'true or false',
  fits: (written) => typeof written === 'boolean' || isTextOrNumber(written),
  read(raw, name) {
    const value = findEntry(SWITCH_WORDS, String(raw))
    if (value !== undefined) return value
    throw new UsageError('option', `${name} takes true or false, found "${raw}"`)
  },
  write: String,
}

export const number: Kind<number> = numberKind('a number', parseNumber, String)

/** In seconds; `5min` and `250ms` are understood. */
export const seconds: Kind<number> = numberKind('seconds, such as 90 or "5min"', parseSeconds, (value) => `${value}s`)

/** In bytes; `4gb` and `2GiB` are understood. */
export const bytes: Kind<number> = numberKind('a size, such as "4gb"', parseBytes, bytesText)

/** A whole number from `least` up. */
export function whole(least: number): Kind<number> {
  return {
    ...number,
    expected: `a whole number from ${least} up`,
    read(raw, name, origin) {
      const value = number.read(raw, name, origin)
      if (Number.isSafeInteger(value) && value >= least) return value
      throw new UsageError('option', `${name} takes a whole number from ${least} up, found "${raw}"`)
    },
  }
}

export function oneOf<const W extends string>(words: readonly W[]): Kind<W> {
  return {
    ...text,
    expected: words.join(' or '),
    read(raw, name) {
      const known = words.find((word) => word === String(raw))
      if (known !== undefined) return known
      throw unknown('option', `${name} "${raw}"`, String(raw), words)
    },
    write: (value) => value,
  }
}

/** Text that `parse` interprets. A list in a configuration becomes text with commas. */
export function parsed<T>(
  expected: string,
  parse: (given: string, name: string) => T,
  write: (value: T) => string,
): Kind<T> {
  return {
    takes: 'value',
    expected,
    fits: (written) => [written].flat().every(isTextOrNumber),
    read: (raw, name) => parse(String(raw), name),
    write,
  }
}

function numberKind(
  expected: string,
  parse: (given: string) => number | null,
  write: (value: number) => string,
): Kind<number> {
  return {
    takes: 'value',
    expected,
    fits: isTextOrNumber,
    read(raw, name) {
      const value = typeof raw === 'number' ? raw : (parse(String(raw)) ?? Number.NaN)
      if (Number.isFinite(value) && value >= 0) return value
      throw new UsageError('option', `${name} takes a number of at least 0, found "${raw}"`)
    },
    write,
  }
}

function parseNumber(given: string): number | null {
  return parseWithUnit(given, { '': 1 })
}

const BYTE_UNITS: Readonly<Record<string, number>> = {
  '': 1,
  k: 1e3,
  m: 1e6,
  g: 1e9,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  kib: 2 ** 10,
  mib: 2 ** 20,
  gib: 2 ** 30,
}

function parseBytes(given: string): number | null {
  return parseWithUnit(given, BYTE_UNITS)
}

function parseWithUnit(given: string, units: Readonly<Record<string, number>>): number | null {
  const match = /^([0-9.eE+-]+)\s*([a-zA-Z]*)$/.exec(given.trim())
  const unit = match && findEntry(units, match[2]!.toLowerCase())
  return match && unit ? Number(match[1]) * unit : null
}

const SHOWN_UNITS: readonly (readonly [string, number])[] = [
  ['gib', 2 ** 30],
  ['gb', 1e9],
  ['mib', 2 ** 20],
  ['mb', 1e6],
]

function bytesText(size: number): string {
  const unit = size > 0 ? SHOWN_UNITS.find(([, each]) => size % each === 0) : undefined
  return unit ? `${size / unit[1]}${unit[0]}` : String(size)
}
