import { StageError } from '../../domain/errors.ts'
import type { TensorSource } from '../../domain/tensor.ts'
import type { Side } from '../../domain/verdict.ts'

/** Reads a source in pieces of any size, whatever the size of its chunks. */
export class ByteReader {
  readonly #source: TensorSource
  readonly #side: Side
  readonly #chunks: AsyncIterator<Uint8Array>
  #chunk: Uint8Array = new Uint8Array(0)
  #at = 0

  constructor(source: TensorSource, side: Side) {
    this.#source = source
    this.#side = side
    this.#chunks = source.chunks()[Symbol.asyncIterator]()
  }

  /** The next bytes; valid until the next call. */
  async take(byteLength: number): Promise<Uint8Array> {
    return this.takeAtOnce(byteLength) ?? this.#gather(byteLength)
  }

  /** The next bytes if the current chunk holds them all, else null; avoids a promise per small piece. */
  takeAtOnce(byteLength: number): Uint8Array | null {
    if (this.#chunk.byteLength - this.#at < byteLength) return null
    this.#at += byteLength
    return this.#chunk.subarray(this.#at - byteLength, this.#at)
  }

  /** The next four bytes as a whole number, if the current chunk holds them. */
  wordAtOnce(): number | null {
    const [chunk, at] = [this.#chunk, this.#at]
    if (chunk.byteLength - at < 4) return null
    this.#at = at + 4
    return (chunk[at]! | (chunk[at + 1]! << 8) | (chunk[at + 2]! << 16) | (chunk[at + 3]! << 24)) >>> 0
  }

  /** Throws unless everything was read. */
  async end(): Promise<void> {
    if (this.#at === this.#chunk.byteLength && !(await this.#next())) return
    throw this.#damaged(`more than the ${this.#source.byteLength} bytes it declares`)
  }

  /** Releases the source before its end. */
  async close(): Promise<void> {
    await this.#chunks.return?.()
  }

  async #gather(byteLength: number): Promise<Uint8Array> {
    const bytes = new Uint8Array(byteLength)
    let filled = 0
    while (filled < byteLength) {
      if (this.#at === this.#chunk.byteLength && !(await this.#next())) {
        throw this.#damaged(`fewer than the ${this.#source.byteLength} bytes it declares`)
      }
      const part = this.#chunk.subarray(this.#at, this.#at + byteLength - filled)
      bytes.set(part, filled)
      filled += part.byteLength
      this.#at += part.byteLength
    }
    return bytes
  }

  /** Moves to the next chunk that is not empty. */
  async #next(): Promise<boolean> {
    this.#at = 0
    this.#chunk = new Uint8Array(0)
    while (this.#chunk.byteLength === 0) {
      const next = await this.#chunks.next()
      if (next.done) return false
      this.#chunk = next.value
    }
    return true
  }

  #damaged(found: string): StageError {
    const what = `tensor "${this.#source.name}" of the ${this.#side} gave ${found}; its stored copy is damaged, run again with --recompute`
    return new StageError('compare', what, { side: this.#side })
  }
}
