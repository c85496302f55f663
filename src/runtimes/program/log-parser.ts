import type { Parsing } from '../../files/convergence/contract.ts'
import { type LineReader, lineReader } from '../../files/convergence/line-reader.ts'
import { EventPacker, type PackedEvents } from '../../files/convergence/packed-events.ts'
import { LineSplitter, LONGEST_LINE_BYTES } from './line-splitter.ts'
import { describeSlowPattern } from './slow-pattern.ts'
import { within } from './within.ts'

/** Bytes of stdout or stderr, in memory of their own. */
export interface StreamPart {
  readonly stream: 0 | 1
  readonly bytes: Uint8Array<ArrayBuffer>
}

/** What parts of a log held; `problem` where patterns did not end in time, and then nothing more is read. */
export interface ParsedParts {
  readonly events: readonly PackedEvents[]
  readonly problem: string | null
}

/** Reads the streams of a program: bytes in, events out. */
export class LogParser {
  lineCount = 0
  readonly #parsing: Parsing
  readonly #patternMs: number
  readonly #reader: LineReader
  readonly #splitters = [new LineSplitter(), new LineSplitter()] as const
  readonly #packer = new EventPacker()
  #line = ''
  #hasGivenUp = false

  constructor(parsing: Parsing, patternMs: number) {
    this.#parsing = parsing
    this.#patternMs = patternMs
    this.#reader = lineReader(parsing)
  }

  feed(parts: readonly StreamPart[]): ParsedParts {
    return this.#inTime(parts, ({ stream, bytes }) => this.#splitters[stream].feed(Buffer.from(bytes.buffer)))
  }

  end(): ParsedParts {
    return this.#inTime(this.#splitters, (splitter) => splitter.end())
  }

  get warnings(): readonly string[] {
    const cut = this.#splitters.reduce((sum, { cutCount }) => sum + cutCount, 0)
    const lines = cut === 1 ? '1 line was' : `${cut} lines were`
    const warning = `${lines} longer than ${LONGEST_LINE_BYTES / 1024} KiB; only the beginning was looked at`
    return cut > 0 ? [...this.#reader.warnings, warning] : this.#reader.warnings
  }

  #inTime<T>(parts: readonly T[], linesOf: (part: T) => readonly string[]): ParsedParts {
    const events: PackedEvents[] = []
    if (this.#hasGivenUp) return { events, problem: null }
    const isDone = within(this.#patternMs, () => {
      // Part by part, so that a collection of garbage never finds much alive.
      for (const part of parts) {
        this.#read(linesOf(part))
        events.push(this.#packer.take())
      }
    })
    if (isDone) return { events, problem: null }
    this.#hasGivenUp = true
    const problem = describeSlowPattern(this.#parsing, this.#line, this.lineCount, this.#patternMs)
    return { events: [...events, this.#packer.take()], problem }
  }

  #read(lines: readonly string[]): void {
    for (const line of lines) {
      this.lineCount++
      this.#line = line
      this.#reader.readInto(this.#packer, line)
    }
  }
}
