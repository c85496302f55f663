import { appendFileSync, closeSync, openSync } from 'node:fs'
import { formatBytes } from '../../../domain/text.ts'
import { Tail } from '../../../runtimes/process/tail.ts'

const HEAD_BYTES = 63 * 2 ** 20
const TAIL_BYTES = 2 ** 20

/** What a program prints, as it comes; of more than 64 MiB the middle is left out. */
export class LogFile {
  readonly #file: number
  readonly #headBytes: number
  readonly #tail: Tail
  #written = 0
  #afterHead = 0
  #problem: string | null = null

  constructor(path: string, budget = { headBytes: HEAD_BYTES, tailBytes: TAIL_BYTES }) {
    this.#file = openSync(path, 'w')
    this.#headBytes = budget.headBytes
    this.#tail = new Tail(budget.tailBytes)
  }

  add(bytes: Uint8Array): void {
    const head = bytes.subarray(0, this.#headBytes - this.#written)
    this.#write(head)
    this.#written += head.length
    const rest = bytes.subarray(head.length)
    this.#afterHead += rest.length
    if (rest.length > 0) this.#tail.add(rest)
  }

  /** Writes the end where there was too much; says what is not in the file. */
  close(): readonly string[] {
    const tail = this.#tail.bytes()
    const missing = this.#afterHead - tail.length
    if (missing > 0) this.#write(Buffer.from(`\n[… ${formatBytes(missing)} are left out here …]\n`))
    this.#write(tail)
    closeSync(this.#file)
    if (this.#problem !== null) return [`the log file is not complete: ${this.#problem}`]
    return missing > 0 ? [`the log file leaves out ${formatBytes(missing)} in its middle`] : []
  }

  /** A full disk is no reason to lose the run. */
  #write(bytes: Uint8Array): void {
    if (this.#problem !== null || bytes.length === 0) return
    try {
      appendFileSync(this.#file, bytes)
    } catch (error) {
      this.#problem = (error as Error).message
    }
  }
}
