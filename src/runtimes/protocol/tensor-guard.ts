import { DTYPES, isDType } from '../../domain/dtype.ts'
import { countBytes, eachTensorName, formatShape, type TensorChunk, type TraceValue } from '../../domain/tensor.ts'
import { ProtocolError } from './frame.ts'
import type { UncheckedTensorParams } from './messages.ts'

interface OpenTensor {
  readonly name: string
  readonly dtype: string
  readonly shape: string
  readonly byteLength: number | null
  received: number
}

/** Lets only well-formed tensors of one run through: known dtypes, bytes in order, as many as the shape says, within the limit. */
export class TensorGuard {
  readonly #limitBytes: number
  readonly #complete = new Set<string>()
  #current: OpenTensor | null = null
  #totalBytes = 0

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes
  }

  accept(params: UncheckedTensorParams, bytes: Uint8Array): TensorChunk {
    const { name, dtype, shape, offset, last } = params
    if (!isDType(dtype)) throw new ProtocolError(`tensor ${quote(name)} has the unknown dtype ${quote(dtype)}`)
    const tensor = this.#current ?? this.#begin(params, countBytes(dtype, shape))
    if (tensor.name !== name) throw new ProtocolError(`tensor ${quote(name)} begins before ${quote(tensor.name)} ended`)
    if (tensor.dtype !== dtype || tensor.shape !== formatShape(shape)) {
      throw new ProtocolError(`tensor ${quote(name)} changes from ${tensor.dtype} ${tensor.shape} on its way`)
    }
    if (offset !== tensor.received) {
      throw new ProtocolError(`tensor ${quote(name)}: a chunk at offset ${offset}, expected ${tensor.received}`)
    }
    this.#count(tensor, bytes.length, DTYPES[dtype].bits)
    if (last) this.#end(tensor)
    return { name, dtype, shape, offset, last, bytes }
  }

  /** Every value that the worker names must have come whole, and nothing else. */
  finish(values: readonly TraceValue[]): void {
    if (this.#current) throw new ProtocolError(`tensor ${quote(this.#current.name)} never ended`)
    const named = new Set<string>()
    for (const name of eachTensorName(values)) {
      if (named.has(name)) throw new ProtocolError('the values name a tensor twice')
      if (!this.#complete.has(name)) throw new ProtocolError(`tensor ${quote(name)} never came`)
      named.add(name)
    }
    for (const name of this.#complete)
      if (!named.has(name)) throw new ProtocolError(`tensor ${quote(name)} came but is in no value`)
  }

  #begin(params: UncheckedTensorParams, byteLength: number | null): OpenTensor {
    const { name, dtype } = params
    const shape = formatShape(params.shape)
    if (this.#complete.has(name)) throw new ProtocolError(`tensor ${quote(name)} came twice`)
    if (byteLength !== null && !(this.#totalBytes + byteLength <= this.#limitBytes)) {
      const others = this.#totalBytes > 0 ? ` after ${this.#totalBytes} bytes of others` : ''
      throw this.#overLimit(`${quote(name)}, ${dtype} ${shape}, takes ${byteLength} bytes${others}`)
    }
    this.#current = { name, dtype, shape, byteLength, received: 0 }
    return this.#current
  }

  #count(tensor: OpenTensor, byteLength: number, bits: number): void {
    tensor.received += byteLength
    this.#totalBytes += byteLength
    if (tensor.byteLength !== null && tensor.received > tensor.byteLength) throw wrongSize(tensor)
    if (bits > 8 && byteLength % (bits / 8) !== 0) {
      throw new ProtocolError(`tensor ${quote(tensor.name)}: a chunk of ${byteLength} bytes splits a ${tensor.dtype}`)
    }
    if (this.#totalBytes > this.#limitBytes) throw this.#overLimit(`${this.#totalBytes} bytes came`)
  }

  #end(tensor: OpenTensor): void {
    if (tensor.byteLength !== null && tensor.received !== tensor.byteLength) throw wrongSize(tensor)
    this.#complete.add(tensor.name)
    this.#current = null
  }

  #overLimit(found: string): ProtocolError {
    return new ProtocolError(`outputs over the limit of ${this.#limitBytes} bytes for one run: ${found}`)
  }
}

function wrongSize(tensor: OpenTensor): ProtocolError {
  const { name, dtype, shape, received, byteLength } = tensor
  return new ProtocolError(`tensor ${quote(name)}: ${received} bytes came, but ${dtype} ${shape} has ${byteLength}`)
}

function quote(name: string): string {
  return JSON.stringify(name.length > 200 ? `${name.slice(0, 200)}…` : name)
}
