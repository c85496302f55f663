import type { Parsing } from '../../files/convergence/contract.ts'
import { type LineReader, lineReader } from '../../files/convergence/line-reader.ts'
import { EventPacker, type PackedEvents } from '../../files/convergence/packed-events.ts'
import { LineSplitter, LONGEST_LINE_BYTES } from './line-splitter.ts'
import { describeSlowPattern } from './slow-pattern.ts'
import { type SourceReader, sourceReader } from './source-reader.ts'
import { within } from './within.ts'

/** Bytes of a stream or a file, in memory of their own. */
export interface StreamPart {
  /** 0: stdout, 1: stderr, from FIRST_FILE on: a file of metrics. */
  readonly stream: number
  readonly bytes: Uint8Array<ArrayBuffer>
}

export const FIRST_FILE = 2

/** Not more events at once, so that a collection of garbage never finds much alive. */
const PACK_COUNT = 300

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
  readonly #splitters = [new LineSplitter(), new LineSplitter()]
  readonly #sources = new Map<number, SourceReader>()
  readonly #packer = new EventPacker()
  #line = ''
  #hasGivenUp = false

  constructor(parsing: Parsing, patternMs: number) {
    this.#parsing = parsing
    this.#patternMs = patternMs
    this.#reader = lineReader(parsing)
  }

  feed(parts: readonly StreamPart[]): ParsedParts {
    return this.#inTime(parts, ({ stream, bytes }) => {
      const part = Buffer.from(bytes.buffer)
      if (stream < FIRST_FILE) this.#read(this.#splitters[stream]!.feed(part))
      else this.#sourceOf(stream).feed(part, this.#packer)
    })
  }

  end(): ParsedParts {
    const ends = [
      ...this.#splitters.map((splitter) => () => this.#read(splitter.end())),
      ...[...this.#sources.values()].map((source) => () => source.end(this.#packer)),
    ]
    return this.#inTime(ends, (end) => end())
  }

  get warnings(): readonly string[] {
    const cut = this.#splitters.reduce((sum, { cutCount }) => sum + cutCount, 0)
    const lines = cut === 1 ? '1 line was' : `${cut} lines were`
    const warning = `${lines} longer than ${LONGEST_LINE_BYTES / 1024} KiB; only the beginning was looked at`
    const sources = [...this.#sources.values()].flatMap((source) => source.warnings)
    return [...this.#reader.warnings, ...sources, ...(cut > 0 ? [warning] : [])]
  }

  #sourceOf(number: number): SourceReader {
    const source = this.#sources.get(number) ?? sourceReader(this.#parsing)
    this.#sources.set(number, source)
    return source
  }

  #inTime<T>(parts: readonly T[], read: (part: T) => void): ParsedParts {
    const events: PackedEvents[] = []
    if (this.#hasGivenUp) return { events, problem: null }
    const isDone = within(this.#patternMs, () => {
      for (const part of parts) {
        read(part)
        if (this.#packer.count >= PACK_COUNT) events.push(this.#packer.take())
      }
      if (this.#packer.count > 0) events.push(this.#packer.take())
    })
    if (isDone) return { events, problem: null }
    this.#hasGivenUp = true
    const problem = describeSlowPattern(this.#parsing, this.#line, this.lineCount, this.#patternMs)
    // What the packer still has may be broken off in the middle of an event.
    return { events, problem }
  }

  #read(lines: readonly string[]): void {
    for (const line of lines) {
      this.lineCount++
      this.#line = line
      this.#reader.readInto(this.#packer, line)
    }
  }
}
