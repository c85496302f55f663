import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Readable } from 'node:stream'
import { Tail } from '../process/tail.ts'

/** Of a tool that prints without end, the file keeps so much of the beginning, and the end. */
const MOST_BYTES = 64 * 2 ** 20

/** All that a tool prints, on both streams: in a file, and passed on as it comes. Memory holds only the end of it. */
export class ToolLog {
  readonly #fd: number
  readonly #tail = new Tail()
  #written = 0
  #omitted = 0
  #isClosed = false

  constructor(path: string) {
    mkdirSync(dirname(path), { recursive: true })
    this.#fd = openSync(path, 'w')
  }

  drain(stream: Readable): void {
    stream.on('data', (part: Buffer) => this.#take(part))
    stream.on('error', () => stream.destroy())
  }

  /** The end of what was printed. */
  close(): string {
    const end = this.#tail.text()
    if (this.#omitted > 0) writeSync(this.#fd, `\n… ${this.#omitted} bytes left out, then the end …\n${end}`)
    closeSync(this.#fd)
    this.#isClosed = true
    return end
  }

  #take(part: Buffer): void {
    if (this.#isClosed) return
    process.stdout.write(part)
    this.#tail.add(part)
    const kept = part.subarray(0, Math.max(0, MOST_BYTES - this.#written))
    this.#written += kept.length
    this.#omitted += part.length - kept.length
    if (kept.length > 0) writeSync(this.#fd, kept)
  }
}
