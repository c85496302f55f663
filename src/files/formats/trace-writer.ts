import { DTYPES } from '../../domain/dtype.ts'
import { FormatError, UsageError } from '../../domain/errors.ts'
import {
  countBytes,
  formatShape,
  type Tensor,
  type TensorChunk,
  type TensorSink,
  type TraceValue,
} from '../../domain/tensor.ts'
import { type AtomicFile, openAtomic, writeAt } from '../disk/atomic.ts'
import { CHUNK_BYTES, readExactly } from '../disk/read-range.ts'
import { Magnitudes } from './magnitudes.ts'
import { checkValues } from './safetensors.ts'
import { formatHeader, type StoredTensor } from './trace-header.ts'

const BYTES_PER_TENSOR = 400

export interface TraceWriter {
  readonly sink: TensorSink
  /** Writes the header and gives the file its name. */
  finish(values: readonly TraceValue[]): Promise<void>
  /** Leaves nothing behind; harmless after `finish`. */
  abort(): Promise<void>
}

interface TraceWriterOptions {
  /** Most bytes of tensor data that are taken. */
  readonly byteLimit?: number
  /** Note the largest magnitude of each tensor and its zeros, which saves whoever compares it a pass; true by default. */
  readonly measures?: boolean
}

/** Streams tensors to a safetensors file without knowing them in advance; `expected` many find room before the data. */
export function createTraceWriter(path: string, expected = 64, options: TraceWriterOptions = {}): TraceWriter {
  const writer = new Writer(path, roundUp(1024 + expected * BYTES_PER_TENSOR), options)
  return {
    sink: (chunk) => writer.take(chunk),
    finish: (values) => writer.finish(values),
    abort: () => writer.abort(),
  }
}

interface OpenTensor {
  readonly chunk: TensorChunk
  readonly start: number
  readonly magnitudes: Magnitudes | null
  taken: number
}

class Writer {
  private file: Promise<AtomicFile> | null = null
  private current: OpenTensor | null = null
  private dataBytes = 0
  private closed = false
  private readonly tensors = new Map<string, StoredTensor>()
  private readonly path: string
  private readonly reserved: number
  private readonly byteLimit: number
  private readonly measures: boolean

  constructor(path: string, reserved: number, { byteLimit = Infinity, measures = true }: TraceWriterOptions) {
    this.path = path
    this.reserved = reserved
    this.byteLimit = byteLimit
    this.measures = measures
  }

  async take(chunk: TensorChunk): Promise<void> {
    if (this.closed) throw new Error('this is a bug in Assay: a chunk came after its trace was finished')
    const tensor = this.current ?? this.begin(chunk)
    checkChunk(chunk, tensor)
    const position = 8 + this.reserved + this.dataBytes
    tensor.taken += chunk.bytes.length
    this.dataBytes += chunk.bytes.length
    this.checkLimit()
    tensor.magnitudes?.add(chunk.bytes)
    this.current = chunk.last ? null : tensor
    if (chunk.last) this.tensors.set(chunk.name, storedTensor(tensor))
    await writeAt((await this.opened()).handle, chunk.bytes, position, this.path)
  }

  private begin(chunk: TensorChunk): OpenTensor {
    if (this.tensors.has(chunk.name)) throw wrong(chunk, 'it came twice')
    checkSpec(chunk)
    const isMeasured = this.measures && DTYPES[chunk.dtype].kind === 'float'
    const magnitudes = isMeasured ? new Magnitudes(chunk.dtype, chunk.shape) : null
    return { chunk, start: this.dataBytes, magnitudes, taken: 0 }
  }

  private checkLimit(): void {
    if (this.dataBytes <= this.byteLimit) return
    const text = `the tensors for ${this.path} take more than the limit of ${this.byteLimit} bytes`
    throw new UsageError('byte-limit', `${text}; raise the limit or ask for fewer tensors`)
  }

  private opened(): Promise<AtomicFile> {
    this.file ??= openAtomic(this.path, { durable: false })
    return this.file
  }

  async finish(values: readonly TraceValue[]): Promise<void> {
    if (this.current) throw wrong(this.current.chunk, 'it ended before its last chunk')
    checkValues(values, this.tensors, this.path)
    const { handle, commit } = await this.opened()
    const header = new TextEncoder().encode(formatHeader({ values, tensors: [...this.tensors.values()] }))
    const headerBytes = Math.max(this.reserved, roundUp(header.length))
    if (headerBytes > this.reserved) await this.moveData(headerBytes - this.reserved)
    const padded = new Uint8Array(8 + headerBytes).fill(0x20)
    new DataView(padded.buffer).setBigUint64(0, BigInt(headerBytes), true)
    padded.set(header, 8)
    await writeAt(handle, padded, 0, this.path)
    this.closed = true
    await commit()
  }

  /** Moves data towards the end of the file, last part first, so nothing is overwritten unread. */
  private async moveData(distance: number): Promise<void> {
    const { handle } = await this.opened()
    const first = 8 + this.reserved
    for (let end = this.dataBytes; end > 0; end -= Math.min(end, CHUNK_BYTES)) {
      const start = Math.max(0, end - CHUNK_BYTES)
      const bytes = await readExactly(handle, first + start, end - start, this.path)
      await writeAt(handle, bytes, first + start + distance, this.path)
    }
  }

  async abort(): Promise<void> {
    if (this.closed) return
    this.closed = true
    const file = await this.file?.catch(() => null)
    await file?.abort()
  }
}

function checkSpec(chunk: TensorChunk): void {
  if (!Object.hasOwn(DTYPES, chunk.dtype)) throw wrong(chunk, `dtype "${chunk.dtype}" is not known`)
  if (chunk.name === '__metadata__') throw wrong(chunk, 'safetensors reserves this name')
  const whole = chunk.shape.every((dim) => Number.isSafeInteger(dim) && dim >= 0)
  const byteLength = whole ? countBytes(chunk.dtype, chunk.shape) : NaN
  if (!whole || (byteLength !== null && !Number.isSafeInteger(byteLength))) {
    throw wrong(chunk, `its shape ${formatShape(chunk.shape)} has sizes that cannot be stored`)
  }
}

function checkChunk(chunk: TensorChunk, { chunk: first, taken }: OpenTensor): void {
  if (chunk.name !== first.name) throw wrong(first, `a chunk of "${chunk.name}" came before its last one`)
  if (chunk.dtype !== first.dtype || formatShape(chunk.shape) !== formatShape(first.shape)) {
    throw wrong(chunk, 'its dtype or shape changed between chunks')
  }
  if (chunk.offset !== taken) throw wrong(chunk, `got a chunk for byte ${chunk.offset}, expected byte ${taken}`)
  const needed = countBytes(chunk.dtype, chunk.shape)
  const end = taken + chunk.bytes.length
  if (needed !== null && (end > needed || (chunk.last && end !== needed))) {
    throw wrong(chunk, `got ${end} bytes, expected ${needed} for ${chunk.dtype} of shape ${formatShape(chunk.shape)}`)
  }
}

function storedTensor({ chunk, start, taken, magnitudes }: OpenTensor): StoredTensor {
  const { name, dtype, shape } = chunk
  const stored = { name, dtype, shape, start, byteLength: taken }
  if (!magnitudes) return stored
  const { largest, zeros } = magnitudes
  return { ...stored, maxAbs: largest, ...(zeros !== null && { zeros }) }
}

function wrong(chunk: TensorChunk, found: string): FormatError {
  return new FormatError('tensor-stream', `tensor "${chunk.name}" cannot be stored: ${found}`)
}

function roundUp(bytes: number): number {
  return Math.ceil(bytes / 8) * 8
}

/** Writes tensors that are in memory; each is a value of its own. */
export async function writeTrace(path: string, tensors: ReadonlyMap<string, Tensor>): Promise<void> {
  const writer = createTraceWriter(path, tensors.size)
  try {
    for (const [name, tensor] of tensors) await writer.sink({ name, ...tensor, offset: 0, last: true })
    await writer.finish([...tensors.keys()].map((name) => ({ name, kind: 'tensor', length: 1 })))
  } finally {
    await writer.abort()
  }
}
