import type { Readable } from 'node:stream'
import { joinBytes } from '../../tensors/join-bytes.ts'

const TAIL_BYTES = 16 * 1024

/** Single bytes take far more room than they hold. */
const MOST_PARTS = 4096

/** The last of what a worker printed; reading never stops, so that a chatty worker never blocks. */
export class Tail {
  #parts: Uint8Array[] = []
  #byteLength = 0
  readonly #maxBytes: number

  constructor(maxBytes = TAIL_BYTES) {
    this.#maxBytes = maxBytes
  }

  drain(stream: Readable): void {
    stream.on('data', (part: Uint8Array) => this.add(part))
    stream.on('error', () => stream.destroy())
  }

  add(part: Uint8Array): void {
    this.#parts.push(part.length > this.#maxBytes ? part.slice(-this.#maxBytes) : part)
    this.#byteLength += this.#parts.at(-1)!.length
    if (this.#byteLength > 4 * this.#maxBytes || this.#parts.length > MOST_PARTS) this.#compact()
  }

  /** Forgets what earlier work printed. */
  clear(): void {
    this.#parts = []
    this.#byteLength = 0
  }

  bytes(): Uint8Array {
    this.#compact()
    return joinBytes(this.#parts)
  }

  text(): string {
    return new TextDecoder().decode(this.bytes())
  }

  #compact(): void {
    const kept = joinBytes(this.#parts).slice(-this.#maxBytes)
    this.#parts = kept.length > 0 ? [kept] : []
    this.#byteLength = kept.length
  }
}
