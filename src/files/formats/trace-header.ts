import { isUtf8 } from 'node:buffer'
import { DTYPES, type DType, isDType } from '../../domain/dtype.ts'
import { FormatError } from '../../domain/errors.ts'
import { countBytes, type TraceValue, type ValueKind } from '../../domain/tensor.ts'
import { parseStrictJson, type StrictJson } from './strict-json.ts'

export const MAX_HEADER_BYTES = 100 * 1000 * 1000
/** Our own facts lie under this key of `__metadata__`, which holds only strings. */
const METADATA_KEY = 'assay'
const TRACE_SCHEMA = 'assay/trace@1'

const SAFETENSORS_DTYPES = {
  F64: 'float64',
  F32: 'float32',
  F16: 'float16',
  BF16: 'bfloat16',
  I64: 'int64',
  I32: 'int32',
  I16: 'int16',
  I8: 'int8',
  U64: 'uint64',
  U32: 'uint32',
  U16: 'uint16',
  U8: 'uint8',
  BOOL: 'bool',
  F8_E4M3: 'float8e4m3fn',
  F8_E5M2: 'float8e5m2',
} as const satisfies Record<string, DType>

/** A tensor in a safetensors file; `start` counts bytes from the end of the header. */
export interface StoredTensor {
  readonly name: string
  readonly dtype: DType
  readonly shape: readonly number[]
  readonly start: number
  readonly byteLength: number
  readonly maxAbs?: number
  readonly zeros?: number
}

export interface TraceHeader {
  readonly values: readonly TraceValue[]
  readonly tensors: readonly StoredTensor[]
}

const nameInFile = new Map<DType, string>(Object.entries(SAFETENSORS_DTYPES).map(([name, dtype]) => [dtype, name]))

/** The name of a dtype in safetensors files. */
export function storedDType(dtype: DType): string {
  const name = nameInFile.get(dtype)
  if (name === undefined) throw new FormatError('safetensors', `safetensors has no dtype for ${dtype}`)
  return name
}

/** The JSON of a header; what safetensors cannot name is U8 there, with dtype and shape in the metadata. */
export function formatHeader({ values, tensors }: TraceHeader): string {
  const facts = tensors.map(({ name, dtype, shape, maxAbs, zeros }) => ({
    name,
    ...(nameInFile.has(dtype) ? {} : { dtype, shape }),
    ...(maxAbs === undefined ? {} : { maxAbs }),
    ...(zeros === undefined ? {} : { zeros }),
  }))
  const ours = JSON.stringify({ schema: TRACE_SCHEMA, values, tensors: facts })
  const entries = tensors.map(({ name, dtype, shape, start, byteLength }) => {
    const stored = nameInFile.get(dtype)
    const entry = { dtype: stored ?? 'U8', shape: stored ? shape : [byteLength] }
    return `${JSON.stringify(name)}:${JSON.stringify({ ...entry, data_offsets: [start, start + byteLength] })}`
  })
  return `{${[`"__metadata__":${JSON.stringify({ [METADATA_KEY]: ours })}`, ...entries].join(',')}}`
}

/** Reads and checks an untrusted header against the bytes that follow it. */
export function parseHeader(bytes: Uint8Array, dataBytes: number, path: string): TraceHeader {
  if (!isUtf8(bytes)) throw bad(path, 'its header is not UTF-8')
  const root = parseStrictJson(new TextDecoder().decode(bytes), `the header of ${path}`)
  if (!(root instanceof Map)) throw bad(path, 'its header is not a JSON object')
  const entries = [...root].filter(([name]) => name !== '__metadata__')
  const stored = entries.map(([name, entry]) => parseEntry(name, entry, path))
  checkCoverage(stored, dataBytes, path)
  return withMetadata(stored, root.get('__metadata__'), path)
}

function parseEntry(name: string, entry: StrictJson, path: string): StoredTensor {
  const what = `tensor ${quote(name)}`
  if (!(entry instanceof Map)) throw bad(path, `${what} is described by something that is not an object`)
  const dtype = entry.get('dtype')
  if (typeof dtype !== 'string' || !Object.hasOwn(SAFETENSORS_DTYPES, dtype)) {
    throw bad(
      path,
      `${what} has dtype ${quote(String(dtype))}, expected one of ${Object.keys(SAFETENSORS_DTYPES).join(', ')}`,
    )
  }
  const shape = sizes(entry.get('shape'), `the shape of ${what}`, path)
  const [start, end, ...more] = sizes(entry.get('data_offsets'), `the data_offsets of ${what}`, path)
  if (start === undefined || end === undefined || more.length > 0 || end < start) {
    throw bad(path, `the data_offsets of ${what} are not [begin, end]`)
  }
  const known = SAFETENSORS_DTYPES[dtype as keyof typeof SAFETENSORS_DTYPES]
  const stored = { name, dtype: known, shape, start, byteLength: end - start }
  checkSize(stored, path)
  return stored
}

function checkSize({ name, dtype, shape, byteLength }: StoredTensor, path: string): void {
  const needed = countBytes(dtype, shape)
  if (needed !== null && (!Number.isSafeInteger(needed) || needed !== byteLength)) {
    const found = `tensor ${quote(name)} has ${byteLength} bytes, but ${dtype} of shape (${shape.join(', ')}) takes ${needed}`
    throw bad(path, found)
  }
}

/** As the format demands: tensors lie one after another, without overlap or hole, and fill the file. */
function checkCoverage(tensors: readonly StoredTensor[], dataBytes: number, path: string): void {
  const ordered = [...tensors].sort((a, b) => a.start - b.start || a.byteLength - b.byteLength)
  let end = 0
  for (const tensor of ordered) {
    if (tensor.start !== end) {
      throw bad(path, `tensor ${quote(tensor.name)} starts at byte ${tensor.start}, expected ${end}: overlap or hole`)
    }
    end += tensor.byteLength
  }
  if (end !== dataBytes) throw bad(path, `it has ${dataBytes} bytes of data, but the header describes ${end}`)
}

function withMetadata(stored: readonly StoredTensor[], metadata: StrictJson | undefined, path: string): TraceHeader {
  const text = metadata instanceof Map ? metadata.get(METADATA_KEY) : undefined
  if (text === undefined) {
    const tensors = [...stored].sort((a, b) => a.start - b.start)
    return { values: tensors.map(({ name }) => ({ name, kind: 'tensor', length: 1 })), tensors }
  }
  const ours = typeof text === 'string' ? parseStrictJson(text, `the metadata of ${path}`) : null
  if (!(ours instanceof Map) || ours.get('schema') !== TRACE_SCHEMA) {
    throw bad(path, `its metadata is not of schema ${TRACE_SCHEMA}`)
  }
  const facts = tensorFacts(ours.get('tensors'), path)
  const tensors = stored.map((tensor) => applyFacts(tensor, facts.get(tensor.name), path))
  return { values: traceValues(ours.get('values'), path), tensors }
}

function tensorFacts(list: StrictJson | undefined, path: string): Map<string, Map<string, StrictJson>> {
  const facts = new Map<string, Map<string, StrictJson>>()
  for (const item of Array.isArray(list) ? list : []) {
    const name = item instanceof Map ? item.get('name') : undefined
    if (!(item instanceof Map) || typeof name !== 'string' || facts.has(name)) {
      throw bad(path, 'its metadata lists a tensor twice or without a name')
    }
    facts.set(name, item)
  }
  return facts
}

function applyFacts(tensor: StoredTensor, facts: Map<string, StrictJson> | undefined, path: string): StoredTensor {
  const maxAbs = facts?.get('maxAbs')
  if (maxAbs !== undefined && !(typeof maxAbs === 'number' && maxAbs >= 0 && Number.isFinite(maxAbs))) {
    throw bad(path, `the maxAbs of tensor ${quote(tensor.name)} is not a finite magnitude`)
  }
  const zeros = facts?.get('zeros')
  if (zeros !== undefined && !isSize(zeros)) throw bad(path, `the zeros of tensor ${quote(tensor.name)} are no count`)
  const known = { ...tensor, ...(maxAbs === undefined ? {} : { maxAbs }), ...(zeros === undefined ? {} : { zeros }) }
  const dtype = facts?.get('dtype')
  if (dtype === undefined) return known
  if (typeof dtype !== 'string' || !isDType(dtype) || tensor.dtype !== 'uint8') {
    throw bad(path, `the metadata gives tensor ${quote(tensor.name)} a dtype that it cannot have`)
  }
  const shape = sizes(facts?.get('shape'), `the shape of tensor ${quote(tensor.name)}`, path)
  const stored = { ...known, dtype, shape }
  checkSize(stored, path)
  return stored
}

const KINDS: readonly string[] = ['tensor', 'sequence', 'optional', 'map'] satisfies ValueKind[]

function traceValues(list: StrictJson | undefined, path: string): TraceValue[] {
  if (!Array.isArray(list)) throw bad(path, 'its metadata lists no values')
  return list.map((item) => {
    const [name, kind, length] = item instanceof Map ? [item.get('name'), item.get('kind'), item.get('length')] : []
    if (typeof name !== 'string' || typeof kind !== 'string' || !KINDS.includes(kind) || !isSize(length)) {
      throw bad(path, 'its metadata has an invalid value')
    }
    return { name, kind: kind as ValueKind, length }
  })
}

function sizes(list: StrictJson | undefined, what: string, path: string): number[] {
  if (!Array.isArray(list) || !list.every(isSize)) throw bad(path, `${what} is not a list of whole numbers from 0 up`)
  return list
}

function isSize(value: StrictJson | undefined): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

function quote(name: string): string {
  return JSON.stringify(name.length > 120 ? `${name.slice(0, 120)}…` : name)
}

function bad(path: string, found: string): FormatError {
  return new FormatError('safetensors', `${path} is not a valid safetensors file: ${found}; write it again`)
}

/** The smallest number of bytes that holds whole elements. */
export function elementBytes(dtype: DType): number {
  return Math.max(1, DTYPES[dtype].bits / 8)
}
