import { findEntry } from './entry.ts'
import { UsageError } from './errors.ts'
import { redactText } from './redact.ts'
import { unknown } from './suggest.ts'

/** A runtime plus device plus options: the thing under test, or the reference it is compared with. */
export interface Target {
  /** Canonical spec string, without secrets, unless the user named it. */
  readonly name: string
  readonly runtime: string
  readonly version: string | null
  readonly device: string
  /** The values of a repeated key are joined by commas. */
  readonly options: Readonly<Record<string, string>>
  /** The files that describe its hardware type and chip, if any; `options` has their names. */
  readonly files?: HardwareFiles
}

export type HardwareFiles = Readonly<Partial<Record<'hw' | 'chip', HardwareFile>>>

/** The JSON file that describes a hardware type or chip. */
export interface HardwareFile {
  /** Absolute. */
  readonly path: string
  readonly content: unknown
}

/** How a runtime's spec strings are written. */
export interface TargetSchema {
  readonly defaultDevice: string
  /** The device is free text (a path, a host) and must be given. */
  readonly openDevice?: boolean
  /** The device is a board's address, which may be given once for all targets. */
  readonly address?: true
  /** It returns stored outputs and runs nothing, so it has no layers. */
  readonly stored?: true
  /** It is published in versions, so a target may name one. */
  readonly versioned?: true
  /** Option → default, or null if there is none. */
  readonly options: Readonly<Record<string, string | null>>
}

/** Options that name what a target runs on: hardware type, chip, address of a board. */
export const HARDWARE_KEYS = ['hw', 'chip', 'board'] as const
export type HardwareKey = (typeof HARDWARE_KEYS)[number]

export const COMMON_OPTIONS: Readonly<Record<string, string | null>> = {
  model: null,
  variant: null,
  hw: null,
  chip: null,
  board: null,
  dtype: null,
}

export type TargetSchemas = Readonly<Record<string, TargetSchema>>

/** `[name=]runtime[@version][:device][,key=value]…` */
export function parseTarget(written: string, schemas: TargetSchemas): Target {
  const { given, rest } = splitName(written)
  const spec = redactText(written)
  const [head = '', ...pairs] = rest.split(',')
  const colon = head.indexOf(':')
  const [runtime = '', version = null] = splitOnce(colon < 0 ? head : head.slice(0, colon), '@')
  const schema = findEntry(schemas, runtime)
  if (!schema) throw unknown('target', `runtime "${runtime}" in target "${spec}"`, runtime, Object.keys(schemas))
  if (version !== null) checkVersion(spec, runtime, version, schema)
  const device = (colon < 0 ? '' : head.slice(colon + 1)) || schema.defaultDevice
  if (!device && !schema.address)
    throw new UsageError('target', `target "${spec}" names no device; write ${runtime}:<what to run>`)
  const target = { runtime, version, device, options: parsePairs(spec, pairs, schema) }
  return { name: given ?? nameOfTarget(target, schema), ...target }
}

/** The name of an unnamed target in ids, reports and records, without secrets. */
export function nameOfTarget(target: Omit<Target, 'name'>, schema: TargetSchema): string {
  return redactText(formatTarget(target, schema))
}

/** Canonical form: device always written, keys sorted, keys at their default dropped. */
export function formatTarget(target: Omit<Target, 'name'>, schema: TargetSchema): string {
  const defaults = { ...COMMON_OPTIONS, ...schema.options }
  const keys = Object.keys(target.options).filter((key) => target.options[key] !== defaults[key])
  const pairs = keys.sort().flatMap((key) => target.options[key]!.split(',').map((value) => `,${key}=${value}`))
  return `${target.runtime}${target.version === null ? '' : `@${target.version}`}:${target.device}${pairs.join('')}`
}

function splitName(spec: string): { given: string | null; rest: string } {
  const match = /^([^:@,=]+)=(.*)$/s.exec(spec)
  return match ? { given: match[1]!, rest: match[2]! } : { given: null, rest: spec }
}

function splitOnce(text: string, separator: string): [string, string | null] {
  const at = text.indexOf(separator)
  return at < 0 ? [text, null] : [text.slice(0, at), text.slice(at + separator.length)]
}

function checkVersion(spec: string, runtime: string, version: string, schema: TargetSchema): void {
  if (!schema.versioned) {
    throw new UsageError('target', `${runtime} takes no version; leave "@${version}" out of target "${spec}"`)
  }
  if (isVersionWord(version)) return
  const problem = version === '' ? 'names no version after "@"' : `has the invalid version "${version}"`
  const examples = ['1.30.0', '1.30', 'latest'].map((word) => `${runtime}@${word}`)
  throw new UsageError('target', `target "${spec}" ${problem}; write one as in ${examples.join(', ')}`)
}

/** An exact version, the beginning of one, or a tag such as `latest`. */
export function isVersionWord(text: string): boolean {
  // A package manager would take the name of an archive, like one that begins with a dot, for a file.
  const isFile = /\.(?:tgz|tar|tar\.gz)$/i.test(text)
  return /^[0-9A-Za-z][0-9A-Za-z.-]*$/.test(text) && !isFile
}

function parsePairs(spec: string, pairs: readonly string[], schema: TargetSchema): Record<string, string> {
  const known = { ...COMMON_OPTIONS, ...schema.options }
  const options: Record<string, string> = {}
  for (const pair of pairs) {
    const [key, value] = splitOnce(pair, '=')
    if (value === null) throw new UsageError('target', `"${redactText(pair)}" in target "${spec}" is not key=value`)
    if (!Object.hasOwn(known, key)) throw unknown('target', `key "${key}" in target "${spec}"`, key, Object.keys(known))
    options[key] = Object.hasOwn(options, key) ? `${options[key]},${value}` : value
  }
  return options
}
