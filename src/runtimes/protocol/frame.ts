import { joinBytes } from '../../tensors/join-bytes.ts'
import { allocateBytes } from './bytes.ts'
import { quoteBytes } from './quote.ts'

export const MAGIC = 'ASY1'
export const PREFIX_BYTES = 12
/** Lists of taps and specs of large graphs travel in one header. */
const MAX_HEADER_BYTES = 4 * 2 ** 20
const MAX_PAYLOAD_BYTES = 8 * 2 ** 20

/** What came over the channel breaks the protocol. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError'
}

export interface Frame {
  readonly header: unknown
  readonly payload: Uint8Array
}

const EMPTY = new Uint8Array(0)

/** Prefix and header of a frame; the payload is written after it, so that it need not be copied. */
export function encodeHead(header: unknown, payloadBytes: number): Uint8Array {
  const json = new TextEncoder().encode(JSON.stringify(header))
  if (json.length > MAX_HEADER_BYTES) throw new ProtocolError(tooLarge('header', json.length, MAX_HEADER_BYTES))
  if (payloadBytes > MAX_PAYLOAD_BYTES) throw new ProtocolError(tooLarge('payload', payloadBytes, MAX_PAYLOAD_BYTES))
  const head = allocateBytes(PREFIX_BYTES + json.length)
  const view = new DataView(head.buffer)
  for (let i = 0; i < MAGIC.length; i++) view.setUint8(i, MAGIC.charCodeAt(i))
  view.setUint32(4, json.length, true)
  view.setUint32(8, payloadBytes, true)
  head.set(json, PREFIX_BYTES)
  return head
}

export interface FrameSizes {
  readonly headerBytes: number
  readonly payloadBytes: number
}

export function decodePrefix(prefix: Uint8Array): FrameSizes {
  const view = new DataView(prefix.buffer, prefix.byteOffset, PREFIX_BYTES)
  const sizes = { headerBytes: view.getUint32(4, true), payloadBytes: view.getUint32(8, true) }
  if (sizes.headerBytes > MAX_HEADER_BYTES)
    throw new ProtocolError(tooLarge('header', sizes.headerBytes, MAX_HEADER_BYTES))
  if (sizes.payloadBytes > MAX_PAYLOAD_BYTES)
    throw new ProtocolError(tooLarge('payload', sizes.payloadBytes, MAX_PAYLOAD_BYTES))
  return sizes
}

export function decodeHeader(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (cause) {
    throw new ProtocolError(`a frame's header is not JSON; it begins with ${quoteBytes(bytes)}`, { cause })
  }
}

function tooLarge(part: string, found: number, limit: number): string {
  return `a frame's ${part} has ${found} bytes; at most ${limit} are allowed`
}

type Part = 'prefix' | 'header' | 'payload'

/** Cuts a byte stream into frames, however it was split on the way. */
export class FrameReader {
  #part: Part = 'prefix'
  #buffer: Uint8Array = allocateBytes(PREFIX_BYTES)
  #filled = 0
  #sizes: FrameSizes = { headerBytes: 0, payloadBytes: 0 }
  #header: unknown
  #spare: Uint8Array | null = null

  /** A payload that nobody needs any more; a later one takes its place. */
  giveBack(payload: Uint8Array): void {
    const memory = new Uint8Array(payload.buffer)
    if (memory.length > (this.#spare?.length ?? 0)) this.#spare = memory
  }

  *push(piece: Uint8Array): Generator<Frame> {
    let at = 0
    while (at < piece.length) {
      const taken = Math.min(this.#buffer.length - this.#filled, piece.length - at)
      this.#buffer.set(piece.subarray(at, at + taken), this.#filled)
      if (this.#part === 'prefix') this.#checkMagic(taken, piece.subarray(at))
      this.#filled += taken
      at += taken
      while (this.#filled === this.#buffer.length) {
        const frame = this.#advance()
        if (frame) yield frame
        if (this.#part === 'prefix') break
      }
    }
  }

  /** In words: what is missing of a frame that has begun; null between frames. */
  unfinished(): string | null {
    if (this.#part === 'prefix' && this.#filled === 0) return null
    return `in the middle of a frame, after ${this.#filled} of ${this.#buffer.length} bytes of its ${this.#part}`
  }

  #checkMagic(taken: number, rest: Uint8Array): void {
    const end = Math.min(this.#filled + taken, MAGIC.length)
    for (let i = this.#filled; i < end; i++) {
      if (this.#buffer[i] === MAGIC.charCodeAt(i)) continue
      const found = joinBytes([this.#buffer.subarray(0, this.#filled), rest])
      throw new ProtocolError(`expected a frame (magic ${MAGIC}) but found ${quoteBytes(found)}`)
    }
  }

  #advance(): Frame | null {
    if (this.#part === 'prefix') {
      this.#sizes = decodePrefix(this.#buffer)
      this.#begin('header', this.#sizes.headerBytes)
      return null
    }
    if (this.#part === 'header') {
      this.#header = decodeHeader(this.#buffer)
      if (this.#sizes.payloadBytes > 0) {
        this.#begin('payload', this.#sizes.payloadBytes)
        return null
      }
      return this.#finish(EMPTY)
    }
    return this.#finish(this.#buffer)
  }

  #finish(payload: Uint8Array): Frame {
    this.#begin('prefix', PREFIX_BYTES)
    return { header: this.#header, payload }
  }

  #begin(part: Part, byteLength: number): void {
    this.#part = part
    this.#buffer = part === 'payload' ? this.#takeMemory(byteLength) : allocateBytes(byteLength)
    this.#filled = 0
  }

  #takeMemory(byteLength: number): Uint8Array {
    const spare = this.#spare
    if (spare === null || spare.length < byteLength) return allocateBytes(byteLength)
    this.#spare = null
    return spare.subarray(0, byteLength)
  }
}
