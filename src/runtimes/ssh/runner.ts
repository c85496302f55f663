import { constants } from 'node:os'
import type { Readable, Writable } from 'node:stream'
import type { BoardFolder } from './board-folder.ts'
import type { BoardLine } from './board-line.ts'
import { type Connection, startSsh } from './connection.ts'

/** How the program on the board ended. */
export interface RunnerEnd {
  readonly reason: string
  readonly exitCode?: number
  readonly signal?: string
  /** Trying again would not help. */
  readonly final?: true
}

const BEGIN = '@assay begin\n'
const MOST_BANNER_BYTES = 64 * 1024

/** The program on the board that speaks the worker protocol. */
export class Runner {
  readonly input: Writable
  readonly #output: Readable
  readonly #line: BoardLine
  readonly #program: string
  readonly #closed: Promise<void>

  constructor(connection: Connection, folder: BoardFolder, line: BoardLine, program: string) {
    const child = startSsh(connection, folder.runnerCommand())
    this.#line = line
    this.#program = program
    this.input = child.stdin
    this.#output = child.stdout
    child.stderr.pipe(process.stderr, { end: false })
    this.#closed = new Promise((resolve) => {
      child.on('error', () => resolve())
      child.on('close', () => resolve())
    })
  }

  /** What it sends, without what the login shell printed before it began. */
  async *output(): AsyncGenerator<Uint8Array> {
    let before: Buffer | null = Buffer.alloc(0)
    for await (const piece of this.#output as AsyncIterable<Buffer>) {
      if (before === null) {
        yield piece
        continue
      }
      before = Buffer.concat([before, piece])
      const at = before.indexOf(BEGIN)
      if (at >= 0) {
        yield before.subarray(at + BEGIN.length)
        before = null
      } else if (before.length > MOST_BANNER_BYTES) return
    }
  }

  /** Resolves when it has ended, however it did. */
  async end(): Promise<RunnerEnd> {
    await this.#closed
    return this.#describe(await this.#line.runnerEnd())
  }

  #describe(code: string): RunnerEnd {
    const program = this.#program
    if (code === 'missing') {
      return {
        reason: `the board has no program "${program}" (not in its PATH, or not executable); program= names another, deploy= sends one`,
        exitCode: 127,
      }
    }
    const exitCode = Number(code)
    if (!Number.isInteger(exitCode)) return { reason: `the runner "${program}" on the board ended` }
    const signal = Object.entries(constants.signals).find(([, number]) => exitCode === 128 + number)?.[0]
    if (signal) return { reason: `the runner "${program}" on the board was killed by ${signal}`, signal }
    return { reason: `the runner "${program}" on the board ended with exit code ${exitCode}`, exitCode }
  }
}
