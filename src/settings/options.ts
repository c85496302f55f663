import { parseSeconds } from '../domain/duration.ts'
import { UsageError } from '../domain/errors.ts'
import { unknown } from '../domain/target.ts'

type OptionType = 'string' | 'number' | 'boolean' | 'list' | 'seconds' | 'bytes'

/** What a shell may offer for a value: these words, or what is looked up when it asks. */
export type Completes = 'targets' | 'keywords' | 'patterns' | 'reporters' | 'files' | 'folders' | readonly string[]

/** One option, declared once: the parser, the environment, the config file and the help all read this. */
export interface OptionSpec {
  readonly key: string
  readonly flags: string
  readonly type: OptionType
  readonly default?: string | number | boolean | readonly string[]
  readonly help: string
  readonly aliases?: readonly string[]
  /** As the documents of other tools write it; works, and says once how it is written here. */
  readonly documented?: readonly string[]
  /** What the documents of other tools call it in the environment. */
  readonly variable?: string
  /** Part of a documented command line that changes nothing here, and why. */
  readonly withoutEffect?: string
  /** Part of a documented command line that asks for what nothing here does, and why that is refused. */
  readonly refused?: string
  /** Has a --no- form. */
  readonly negatable?: boolean
  /** Makes no sense in a config file or in the environment. */
  readonly commandLineOnly?: boolean
  readonly completes?: Completes
}

export type OptionValue = string | number | boolean | readonly string[] | undefined
/** What is named earlier goes before what is named later. */
const ORIGINS = ['command line', 'environment', 'config file', 'default'] as const
export type Origin = (typeof ORIGINS)[number]

/** One value was given closer to the command line than another. */
export function goesBefore(origin: Origin, other: Origin): boolean {
  return ORIGINS.indexOf(origin) < ORIGINS.indexOf(other)
}

export interface Resolved {
  readonly values: Readonly<Record<string, OptionValue>>
  readonly origins: Readonly<Record<string, Origin>>
}

export interface Sources {
  readonly commandLine: Readonly<Record<string, unknown>>
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly file: object
}

/** Command line over `ASSAY_*` over documented variables over config file over default. */
export function resolveOptions(specs: readonly OptionSpec[], sources: Sources): Resolved {
  const values: Record<string, OptionValue> = {}
  const origins: Record<string, Origin> = {}
  for (const spec of specs) {
    const [origin, raw] = rawValue(spec, sources)
    values[spec.key] = raw === undefined ? undefined : coerce(spec, raw, origin)
    origins[spec.key] = origin
  }
  return { values, origins }
}

function rawValue(spec: OptionSpec, sources: Sources): [Origin, unknown] {
  const given = sources.commandLine[spec.key]
  if (given !== undefined) return ['command line', given]
  if (!spec.commandLineOnly) {
    const text = sources.environment[environmentName(spec.key)]
    if (text !== undefined && text !== '') return ['environment', text]
    const documented = spec.variable === undefined ? undefined : sources.environment[spec.variable]
    if (documented !== undefined && documented !== '') return ['environment', documented]
    const written = Object.entries(sources.file).find(([key, value]) => key === spec.key && value !== undefined)
    if (written) return ['config file', written[1]]
  }
  return ['default', spec.default]
}

export function environmentName(key: string): string {
  return `ASSAY_${key.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`
}

function coerce(spec: OptionSpec, raw: unknown, origin: Origin): OptionValue {
  if (spec.type === 'list') return Array.isArray(raw) ? raw.map(String) : coerceList(String(raw), origin)
  if (spec.type === 'boolean') return coerceBoolean(spec, raw)
  if (spec.type === 'string') return String(raw)
  const number = typeof raw === 'number' ? raw : parseNumber(spec, String(raw))
  if (!Number.isFinite(number) || number < 0) {
    throw new UsageError('option', `${flagOf(spec)} takes a number of at least 0, found "${raw}"`)
  }
  return number
}

/** Only a variable has no other way to name several. */
function coerceList(text: string, origin: Origin): string[] {
  return origin === 'environment' ? text.split(/[;\s]+/).filter(Boolean) : [text]
}

function coerceBoolean(spec: OptionSpec, raw: unknown): boolean {
  if (typeof raw === 'boolean') return raw
  if (['1', 'true', 'yes', 'on'].includes(String(raw))) return true
  if (['0', 'false', 'no', 'off'].includes(String(raw))) return false
  throw new UsageError('option', `${flagOf(spec)} is true or false, found "${raw}"`)
}

const SIZE_UNITS: Record<string, number> = {
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

function parseNumber(spec: OptionSpec, text: string): number {
  if (spec.type === 'seconds') return parseSeconds(text) ?? Number.NaN
  const match = /^([0-9.eE+-]+)\s*([a-zA-Z]*)$/.exec(text.trim())
  const units: Readonly<Record<string, number>> = spec.type === 'bytes' ? SIZE_UNITS : { '': 1 }
  const unit = match && units[match[2]!.toLowerCase()]
  return match && unit ? Number(match[1]) * unit : Number.NaN
}

export function flagOf(spec: OptionSpec): string {
  return /--[a-z-]+/.exec(spec.flags)?.[0] ?? spec.flags.split(/[ ,]/)[0]!
}

/** Refuses keys of a config file that no option and no section has. */
export function checkKeys(found: readonly string[], known: readonly string[], where: string): void {
  for (const key of found) if (!known.includes(key)) throw unknown('config', `key "${key}" in ${where}`, key, known)
}
