import { DTYPES, type DType } from './dtype.ts'

export interface TensorSpec {
  readonly name: string
  readonly dtype: DType
  readonly shape: readonly number[]
}

/** Little-endian bytes, row-major; sub-byte types packed low bits first; strings as u32 length + UTF-8, one after another. */
export interface Tensor {
  readonly dtype: DType
  readonly shape: readonly number[]
  readonly bytes: Uint8Array
}

/** A part of a tensor on its way; `offset` counts bytes, `last` ends the tensor. An empty tensor is one empty chunk. */
export interface TensorChunk extends TensorSpec {
  readonly offset: number
  readonly last: boolean
  readonly bytes: Uint8Array
}

/** Takes chunks in order, tensor after tensor; awaiting it is the backpressure. */
export type TensorSink = (chunk: TensorChunk) => Promise<void>

/** A tensor that can be read repeatedly without loading it whole. */
export interface TensorSource extends TensorSpec {
  readonly byteLength: number
  /** Largest finite magnitude, where it was measured on the way to disk. */
  readonly maxAbs?: number
  /** How many numbers are zero, where that was counted and all are finite. */
  readonly zeros?: number
  /** The file and offset of exactly these bytes, if they are in a file. */
  readonly file?: { readonly path: string; readonly start: number }
  /** Chunks hold whole elements, except for strings. */
  chunks(): AsyncIterable<Uint8Array>
}

export type ValueKind = 'tensor' | 'sequence' | 'optional' | 'map'

/** What a model declares about an input or output; unknown parts are null, symbolic dimensions are strings. */
export interface ValueSpec {
  readonly name: string
  readonly kind: ValueKind
  readonly dtype: DType | null
  readonly shape: readonly (number | string | null)[] | null
  /** An input that may be left out. */
  readonly optional?: true
}

/** One value of a trace. Elements of sequences and optionals are the tensors `name#0` … `name#<length-1>`. */
export interface TraceValue {
  readonly name: string
  readonly kind: ValueKind
  /** Tensors it consists of: 1 for a tensor, any number for a sequence, 0 or 1 for an optional. */
  readonly length: number
}

/** Named tensors that one target produced (or was given). */
export interface Trace {
  readonly values: readonly TraceValue[]
  readonly tensors: ReadonlyMap<string, TensorSource>
}

export function tensorNames(value: TraceValue): string[] {
  return [...eachTensorName([value])]
}

/** Lazily, since an unchecked value may claim more names than fit in memory. */
export function* eachTensorName(values: readonly TraceValue[]): Generator<string> {
  for (const { name, kind, length } of values) {
    if (kind === 'tensor') yield name
    else for (let i = 0; i < length; i++) yield `${name}#${i}`
  }
}

export function elementCount(shape: readonly number[]): number {
  return shape.reduce((product, dim) => product * dim, 1)
}

/** Bytes that a tensor takes; null for strings, whose size is not in their shape. */
export function countBytes(dtype: DType, shape: readonly number[]): number | null {
  if (dtype === 'string') return null
  return Math.ceil((elementCount(shape) * DTYPES[dtype].bits) / 8)
}

export function formatShape(shape: readonly (number | string | null)[]): string {
  return `(${shape.map((dim) => dim ?? '?').join(', ')})`
}
