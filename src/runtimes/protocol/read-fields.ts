import { isDType } from '../../domain/dtype.ts'
import type { TraceValue, ValueKind, ValueSpec } from '../../domain/tensor.ts'
import type { Capabilities, TransferKind } from '../contract.ts'
import { ProtocolError } from './frame.ts'

export type Fields = Readonly<Record<string, unknown>>

const VALUE_KINDS: readonly ValueKind[] = ['tensor', 'sequence', 'optional', 'map']
const TRANSFER_KINDS: readonly TransferKind[] = ['tensor', 'sequence', 'optional']

export function object(value: unknown, what: string): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields
  throw wrong(value, what, 'an object')
}

export function list(value: unknown, what: string): readonly unknown[] {
  if (Array.isArray(value)) return value
  throw wrong(value, what, 'a list')
}

export function text(value: unknown, what: string): string {
  if (typeof value === 'string') return value
  throw wrong(value, what, 'a string')
}

export function truth(value: unknown, what: string): boolean {
  if (typeof value === 'boolean') return value
  throw wrong(value, what, 'true or false')
}

export function wholeNumber(value: unknown, what: string): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  throw wrong(value, what, 'a whole number from 0 up')
}

export function duration(value: unknown, what: string): number {
  if (typeof value === 'number' && value >= 0) return value
  throw wrong(value, what, 'a number from 0 up')
}

const MOST_TEXTS = 64
const LONGEST_TEXT = 2000

/** Texts by name for people to read; a long one is cut. */
export function texts(value: unknown, what: string): Record<string, string> {
  const entries = Object.entries(object(value, what))
  if (entries.length > MOST_TEXTS)
    throw new ProtocolError(`${what}: found ${entries.length} entries, expected at most ${MOST_TEXTS}`)
  return Object.fromEntries(entries.map(([key, item]) => [cut(key), cut(String(item))]))
}

function cut(text: string): string {
  return text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT - 1)}…` : text
}

export function valueSpec(value: unknown, what: string): ValueSpec {
  const spec = object(value, what)
  const dtype = typeof spec.dtype === 'string' && isDType(spec.dtype) ? spec.dtype : null
  const shape = spec.shape == null ? null : list(spec.shape, `${what} shape`).map((dim) => dimension(dim, what))
  const optional = spec.optional === true && { optional: true as const }
  return { name: text(spec.name, `${what} name`), kind: kindOf(spec.kind, what), dtype, shape, ...optional }
}

export function traceValue(value: unknown): TraceValue {
  const fields = object(value, 'value')
  const kind = kindOf(fields.kind, 'value')
  const length = kind === 'tensor' ? 1 : wholeNumber(fields.length, 'value length')
  return { name: text(fields.name, 'value name'), kind, length }
}

export function capabilities(hello: Fields): Capabilities {
  const can = object(hello.capabilities, 'hello capabilities')
  const kinds = can.kinds == null ? ['tensor'] : list(can.kinds, 'capabilities kinds')
  return {
    dtypes: dtypes(hello.dtypes, 'hello dtypes'),
    ...(hello.outputDtypes != null && { outputDtypes: dtypes(hello.outputDtypes, 'hello outputDtypes') }),
    kinds: TRANSFER_KINDS.filter((kind) => kinds.includes(kind)),
    taps: can.taps === true,
    replay: can.replay === true,
    decode: can.decode === true,
    profile: can.profile === true,
    sharedMemory: can.sharedMemory === true,
    blobs: can.blobs === true,
    files: can.files === true,
    cheap: can.cheap === true,
    islands: can.islands === true,
    measures: can.measures === true,
    weights: can.weights === true,
    ...(can.shaders === 'wgsl' && { shaders: can.shaders }),
    ...(can.forms != null && { forms: formNames(can.forms) }),
  }
}

const PLAIN_NAME = /^[\w-][\w.-]{0,99}$/

/** They become parts of file names. */
function formNames(value: unknown): string[] {
  const names = list(value, 'capabilities forms').map((name) => text(name, 'name in capabilities forms'))
  const bad = names.find((name, i) => !PLAIN_NAME.test(name) || names.indexOf(name) !== i)
  if (bad === undefined) return names
  throw wrong(bad, 'name in capabilities forms', 'letters, digits, ".", "-" and "_", and none twice')
}

/** A file in a folder that both know: nothing that could lead out of it. */
export function fileName(value: unknown, what: string): string {
  const name = text(value, what)
  if (PLAIN_NAME.test(name)) return name
  throw wrong(name, what, 'a plain file name of letters, digits, ".", "-" and "_"')
}

function dtypes(value: unknown, what: string) {
  return list(value, what)
    .map((item) => text(item, what))
    .filter(isDType)
}

function dimension(dim: unknown, what: string): number | string | null {
  if (dim === null || typeof dim === 'string') return dim
  return wholeNumber(dim, `dimension in ${what} shape`)
}

function kindOf(value: unknown, what: string): ValueKind {
  const kind = VALUE_KINDS.find((name) => name === value)
  if (kind) return kind
  throw wrong(value, `${what} kind`, `one of ${VALUE_KINDS.join(', ')}`)
}

function wrong(value: unknown, what: string, expectation: string): ProtocolError {
  const found = value === undefined ? 'nothing' : (JSON.stringify(value) ?? typeof value).slice(0, 80)
  return new ProtocolError(`${what}: found ${found}, expected ${expectation}`)
}
