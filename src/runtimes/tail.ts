import type { Readable } from 'node:stream'
import { joinBytes } from '../files/join-bytes.ts'

const TAIL_BYTES = 16 * 1024

/** The last of what a worker printed; reading never stops, so that a chatty worker never blocks. */
export class Tail {
  #parts: Uint8Array[] = []
  #byteLength = 0

  drain(stream: Readable): void {
    stream.on('data', (part: Uint8Array) => this.add(part))
    stream.on('error', () => stream.destroy())
  }

  add(part: Uint8Array): void {
    this.#parts.push(part.length > TAIL_BYTES ? part.slice(-TAIL_BYTES) : part)
    this.#byteLength += this.#parts.at(-1)!.length
    if (this.#byteLength > 4 * TAIL_BYTES) this.#compact()
  }

  /** Forgets what earlier work printed. */
  clear(): void {
    this.#parts = []
    this.#byteLength = 0
  }

  text(): string {
    this.#compact()
    return new TextDecoder().decode(joinBytes(this.#parts))
  }

  #compact(): void {
    const kept = joinBytes(this.#parts).slice(-TAIL_BYTES)
    this.#parts = kept.length > 0 ? [kept] : []
    this.#byteLength = kept.length
  }
}
