import { allocateBytes } from '../protocol/bytes.ts'

const ALIGNED = 64

/** Fresh memory costs more than what is put into it, so small tensors of one run take the place of those of the run before. */
export class ReusedMemory {
  readonly #mostBytes: number
  #memory: Uint8Array | undefined

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes
  }

  /** Places of these lengths, good until the next call; fresh ones where they are too large together. */
  take(byteLengths: readonly number[]): Uint8Array[] {
    if (byteLengths.reduce((sum, length) => sum + roomOf(length), 0) > this.#mostBytes) {
      return byteLengths.map((length) => allocateBytes(length))
    }
    this.#memory ??= allocateBytes(this.#mostBytes)
    const memory = this.#memory
    let at = 0
    return byteLengths.map((length) => {
      const bytes = memory.subarray(at, at + length)
      at += roomOf(length)
      return bytes
    })
  }
}

function roomOf(byteLength: number): number {
  return Math.ceil(byteLength / ALIGNED) * ALIGNED
}
