import type { Frame } from '../protocol/frame.ts'

/** Memory for a payload, of just its size. */
export type PayloadMemory = (header: unknown, byteLength: number) => Uint8Array

/** A worker's end of the protocol, over whatever carries it. */
export interface Channel {
  /** The next frame; null when the host has gone. Its payload goes into the memory that `place` gives for it. */
  read(place?: PayloadMemory): Frame | null | Promise<Frame | null>
  /** Resolves when there is room for more. */
  write(header: unknown, payload?: Uint8Array): void | Promise<void>
}
