import { UsageError } from '../domain/errors.ts'
import { unknown } from '../domain/target.ts'

type OptionType = 'string' | 'number' | 'boolean' | 'list' | 'seconds' | 'bytes'

/** One option, declared once: the parser, the environment, the config file and the help all read this. */
export interface OptionSpec {
  readonly key: string
  readonly flags: string
  readonly type: OptionType
  readonly default?: string | number | boolean | readonly string[]
  readonly help: string
  /** Further spellings, kept for people who come from other tools. */
  readonly aliases?: readonly string[]
  /** Has a --no- form. */
  readonly negatable?: boolean
  /** Makes no sense in a config file or in the environment. */
  readonly commandLineOnly?: boolean
}

export type OptionValue = string | number | boolean | readonly string[] | undefined
type Origin = 'command line' | 'environment' | 'config file' | 'default'

export interface Resolved {
  readonly values: Readonly<Record<string, OptionValue>>
  readonly origins: Readonly<Record<string, Origin>>
}

export interface Sources {
  readonly commandLine: Readonly<Record<string, unknown>>
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly file: object
}

/** Command line over `ASSAY_*` over config file over default. */
export function resolveOptions(specs: readonly OptionSpec[], sources: Sources): Resolved {
  const values: Record<string, OptionValue> = {}
  const origins: Record<string, Origin> = {}
  for (const spec of specs) {
    const [origin, raw] = rawValue(spec, sources)
    values[spec.key] = raw === undefined ? undefined : coerce(spec, raw)
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
    const written = Object.entries(sources.file).find(([key, value]) => key === spec.key && value !== undefined)
    if (written) return ['config file', written[1]]
  }
  return ['default', spec.default]
}

function environmentName(key: string): string {
  return `ASSAY_${key.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`
}

function coerce(spec: OptionSpec, raw: unknown): OptionValue {
  if (spec.type === 'list')
    return Array.isArray(raw)
      ? raw.map(String)
      : String(raw)
          .split(/[;\s]+/)
          .filter(Boolean)
  if (spec.type === 'boolean') return coerceBoolean(spec, raw)
  if (spec.type === 'string') return String(raw)
  const number = typeof raw === 'number' ? raw : parseNumber(spec, String(raw))
  if (!Number.isFinite(number) || number < 0) {
    throw new UsageError('option', `${flagOf(spec)} takes a number of at least 0, found "${raw}"`)
  }
  return number
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
const TIME_UNITS: Record<string, number> = { '': 1, ms: 1e-3, s: 1, m: 60, min: 60, h: 3600 }

function parseNumber(spec: OptionSpec, text: string): number {
  const match = /^([0-9.eE+-]+)\s*([a-zA-Z]*)$/.exec(text.trim())
  const units = spec.type === 'bytes' ? SIZE_UNITS : spec.type === 'seconds' ? TIME_UNITS : { '': 1 }
  const unit = match && units[match[2]!.toLowerCase()]
  return match && unit ? Number(match[1]) * unit : Number.NaN
}

function flagOf(spec: OptionSpec): string {
  return /--[a-z-]+/.exec(spec.flags)?.[0] ?? spec.flags.split(/[ ,]/)[0]!
}

/** Refuses keys of a config file that no option and no section has. */
export function checkKeys(found: readonly string[], known: readonly string[], where: string): void {
  for (const key of found) if (!known.includes(key)) throw unknown('config', `key "${key}" in ${where}`, key, known)
}

const SELECTION: readonly OptionSpec[] = [
  {
    key: 'reference',
    flags: '--reference <target>',
    type: 'string',
    help: 'the trusted target everything is compared with (default: ort:cpu, or the recorded outputs)',
  },
  {
    key: 'target',
    flags: '--target <target>',
    type: 'list',
    help: 'what is under test; repeatable (default: ort-web:wasm)',
  },
  {
    key: 'keyword',
    flags: '-k <expression>',
    type: 'string',
    commandLineOnly: true,
    help: 'only cases whose id contains these words; and, or, not, parentheses',
  },
  {
    key: 'pattern',
    flags: '-t <regex>',
    type: 'string',
    commandLineOnly: true,
    help: 'only cases whose id matches this regular expression',
  },
  { key: 'shard', flags: '--shard <i/n>', type: 'string', help: 'judge only part i of n; see assay merge' },
  {
    key: 'durations',
    flags: '--durations <file>',
    type: 'string',
    help: 'measured durations (JSON, id to ms) that balance the shards',
  },
]

const INPUTS: readonly OptionSpec[] = [
  { key: 'seed', flags: '--seed <n>', type: 'number', default: 0, help: 'seed of generated inputs' },
  {
    key: 'dim',
    flags: '--dim <name=value>',
    type: 'list',
    help: 'size of a symbolic dimension; name=1,4 makes several shapes; repeatable',
  },
  {
    key: 'input',
    flags: '--input <name=policy>',
    type: 'list',
    help: 'an input as 0..1, 0.5, file.npy, voiced, text, ones, zeros or normal; repeatable',
  },
]

const COMPARISON: readonly OptionSpec[] = [
  { key: 'rtol', flags: '--rtol <x>', type: 'number', help: 'relative tolerance instead of the table’s rule' },
  { key: 'atol', flags: '--atol <x>', type: 'number', help: 'absolute tolerance instead of the table’s rule' },
  {
    key: 'allowedMismatch',
    flags: '--allowed-mismatch <fraction>',
    type: 'number',
    help: 'fraction of elements that may be over tolerance',
  },
]

const EXECUTION: readonly OptionSpec[] = [
  { key: 'jobs', flags: '-j, --jobs <n>', type: 'number', help: 'cases judged at once (default: number of cores)' },
  {
    key: 'timeout',
    flags: '--timeout <seconds>',
    type: 'seconds',
    default: 300,
    help: 'limit of each stage of a case',
  },
  {
    key: 'memoryLimit',
    flags: '--memory-limit <size>',
    type: 'bytes',
    default: 8 * 2 ** 30,
    help: 'limit of one worker, such as 4gb',
  },
  {
    key: 'outputLimit',
    flags: '--output-limit <size>',
    type: 'bytes',
    default: 4 * 2 ** 30,
    help: 'limit of the outputs of one run of a model',
  },
  { key: 'isolate', flags: '--isolate <what>', type: 'string', help: '"case" gives every case a process of its own' },
  { key: 'failFast', flags: '-x', type: 'boolean', commandLineOnly: true, help: 'stop after the first fail or error' },
  { key: 'maxFailures', flags: '--max-failures <n>', type: 'number', help: 'stop after n fails and errors' },
  {
    key: 'recompute',
    flags: '--recompute',
    type: 'boolean',
    default: false,
    aliases: ['--recompute-cache'],
    help: 'make every product anew, once',
  },
  { key: 'strict', flags: '--strict', type: 'boolean', default: false, help: 'inconclusive is a failure' },
  {
    key: 'passWithNoTests',
    flags: '--pass-with-no-tests',
    type: 'boolean',
    default: false,
    help: 'exit 0 when nothing was judged',
  },
]

const OUTPUT: readonly OptionSpec[] = [
  {
    key: 'list',
    flags: '--list',
    type: 'boolean',
    commandLineOnly: true,
    aliases: ['--collect-only'],
    help: 'print the ids of the cases and judge nothing',
  },
  {
    key: 'json',
    flags: '--json',
    type: 'boolean',
    commandLineOnly: true,
    help: 'print one JSON document on stdout and nothing else',
  },
  {
    key: 'reporter',
    flags: '--reporter <name[:file]>',
    type: 'list',
    help: 'terminal, json, junit or github; repeatable (default: terminal)',
  },
  {
    key: 'outputDir',
    flags: '--output-dir <folder>',
    type: 'string',
    default: '.assay/runs',
    help: 'where run records are written',
  },
  {
    key: 'cacheDir',
    flags: '--cache-dir <folder>',
    type: 'string',
    default: '.assay/cache',
    help: 'where products of steps are kept',
  },
  { key: 'cacheSize', flags: '--cache-size <size>', type: 'bytes', default: 10e9, help: 'disk budget of the cache' },
  { key: 'verbose', flags: '-v, --verbose', type: 'boolean', default: false, help: 'details of passed cases too' },
]

const CONFIG_OPTION: OptionSpec = {
  key: 'config',
  flags: '--config <file>',
  type: 'string',
  commandLineOnly: true,
  help: 'configuration file (default: assay.config.ts, .js, .json or .yaml)',
}

const COLOR_OPTION: OptionSpec = {
  key: 'color',
  flags: '--color',
  type: 'boolean',
  commandLineOnly: true,
  negatable: true,
  help: 'force colour (or --no-color)',
}

const optionNamed = (key: string): OptionSpec => OUTPUT.find((spec) => spec.key === key)!

export const TEST_OPTIONS: readonly OptionSpec[] = [
  ...SELECTION,
  ...INPUTS,
  ...COMPARISON,
  ...EXECUTION,
  ...OUTPUT,
  CONFIG_OPTION,
  COLOR_OPTION,
]

export const MERGE_OPTIONS: readonly OptionSpec[] = [
  {
    key: 'allowMissing',
    flags: '--allow-missing',
    type: 'boolean',
    default: false,
    commandLineOnly: true,
    help: 'merge although some shards are not there',
  },
  {
    key: 'saveDurations',
    flags: '--save-durations <file>',
    type: 'string',
    commandLineOnly: true,
    help: 'write measured durations for --durations',
  },
  optionNamed('json'),
  optionNamed('reporter'),
  optionNamed('outputDir'),
  optionNamed('verbose'),
  COLOR_OPTION,
]

export const CACHE_OPTIONS: readonly OptionSpec[] = [optionNamed('cacheDir'), optionNamed('cacheSize')]
