import type { LogEvent } from '../../domain/convergence.ts'
import type { Parsing } from '../../files/convergence/contract.ts'
import { type LineReader, lineReader } from '../../files/convergence/line-reader.ts'
import { LineSplitter, LONGEST_LINE_BYTES } from './line-splitter.ts'
import { describeSlowPattern } from './slow-pattern.ts'
import { within } from './within.ts'

/** What a part of a log held; `problem` where its patterns did not end in time, and then nothing more is read. */
export interface ParsedPart {
  readonly events: readonly LogEvent[]
  readonly problem: string | null
}

/** Reads the streams of a program: bytes in, events out. */
export class LogParser {
  lineCount = 0
  readonly #parsing: Parsing
  readonly #patternMs: number
  readonly #reader: LineReader
  #hasGivenUp = false
  readonly #splitters = [new LineSplitter(), new LineSplitter()] as const

  constructor(parsing: Parsing, patternMs: number) {
    this.#parsing = parsing
    this.#patternMs = patternMs
    this.#reader = lineReader(parsing)
  }

  feed(stream: 0 | 1, bytes: Buffer): ParsedPart {
    return this.#read(this.#splitters[stream].feed(bytes))
  }

  end(): ParsedPart {
    return this.#read(this.#splitters.flatMap((splitter) => splitter.end()))
  }

  get warnings(): readonly string[] {
    const cut = this.#splitters.reduce((sum, { cutCount }) => sum + cutCount, 0)
    const lines = cut === 1 ? '1 line was' : `${cut} lines were`
    const warning = `${lines} longer than ${LONGEST_LINE_BYTES / 1024} KiB; only the beginning was looked at`
    return cut > 0 ? [...this.#reader.warnings, warning] : this.#reader.warnings
  }

  #read(lines: readonly string[]): ParsedPart {
    const events: LogEvent[] = []
    if (this.#hasGivenUp) return { events, problem: null }
    let at = 0
    const isDone = within(this.#patternMs, () => {
      for (; at < lines.length; at++) {
        const event = this.#reader.read(lines[at]!)
        if (event !== null) events.push(event)
      }
    })
    const line = isDone ? undefined : lines[at]
    this.lineCount += at
    if (line === undefined) return { events, problem: null }
    this.#hasGivenUp = true
    return { events, problem: describeSlowPattern(this.#parsing, line, this.lineCount + 1, this.#patternMs) }
  }
}
