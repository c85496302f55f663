import { FormatError } from '../../../domain/errors.ts'
import type { Parsing } from '../config/contract.ts'
import { type FileReader, fileReader } from '../logs/file-reader.ts'
import { type LineReader, lineReader } from '../logs/line-reader.ts'
import { EventPacker, type PackedEvents } from '../logs/packed-events.ts'
import { StepMerger } from '../logs/step-merger.ts'
import { LineSplitter, LONGEST_LINE_BYTES } from './line-splitter.ts'
import { describeSlowPattern } from './slow-pattern.ts'
import { within } from './within.ts'

/** Bytes of a stream or a file, in memory of their own. */
export interface StreamPart {
  /** 0: stdout, 1: stderr, from FIRST_FILE on: a file of metrics. */
  readonly stream: number
  readonly bytes: Uint8Array<ArrayBuffer>
  /** The first part of a file, which may have been begun anew. */
  readonly isStart: boolean
}

export const FIRST_FILE = 2

/** Not more events at once, so that a collection of garbage never finds much alive. */
const PACK_COUNT = 300

/** Why nothing more is read. */
export interface ReadProblem {
  readonly ending: 'pattern' | 'unreadable'
  readonly text: string
}

export interface ParsedParts {
  readonly events: readonly PackedEvents[]
  readonly problem: ReadProblem | null
}

/** Reads the streams of a program and the files that it writes: bytes in, events out. */
export class LogParser {
  lineCount = 0
  readonly #parsing: Parsing
  readonly #patternMs: number
  readonly #reader: LineReader
  readonly #splitters = [new LineSplitter(), new LineSplitter()]
  readonly #files = new Map<number, FileReader>()
  readonly #steps = new StepMerger()
  readonly #packer = new EventPacker()
  #line = ''
  #hasGivenUp = false

  constructor(parsing: Parsing, patternMs: number) {
    this.#parsing = parsing
    this.#patternMs = patternMs
    this.#reader = lineReader(parsing)
  }

  feed(parts: readonly StreamPart[]): ParsedParts {
    return this.#inTime(parts, ({ stream, bytes, isStart }) => {
      const part = Buffer.from(bytes.buffer)
      if (stream < FIRST_FILE) this.#read(this.#splitters[stream]!.feed(part))
      else for (const event of this.#fileOf(stream, isStart).feed(part)) this.#packer.add(event)
    })
  }

  end(): ParsedParts {
    const files = this.#inTime([...this.#files.values()], (file) => {
      for (const event of file.end()) this.#packer.add(event)
    })
    const streams = this.#inTime(this.#splitters, (splitter) => this.#read(splitter.end()))
    return { events: [...files.events, ...streams.events], problem: files.problem ?? streams.problem }
  }

  get warnings(): readonly string[] {
    const cut = this.#splitters.reduce((sum, { cutCount }) => sum + cutCount, 0)
    const lines = cut === 1 ? '1 line was' : `${cut} lines were`
    const warning = `${lines} longer than ${LONGEST_LINE_BYTES / 1024} KiB; only the beginning was looked at`
    const files = [...this.#files.values()].flatMap((file) => file.warnings)
    return [...new Set([...this.#reader.warnings, ...files, ...(cut > 0 ? [warning] : [])])]
  }

  #fileOf(number: number, isStart: boolean): FileReader {
    const known = isStart ? undefined : this.#files.get(number)
    const file = known ?? fileReader(this.#parsing, this.#steps)
    this.#files.set(number, file)
    return file
  }

  #inTime<T>(parts: readonly T[], read: (part: T) => void): ParsedParts {
    const events: PackedEvents[] = []
    if (this.#hasGivenUp) return { events, problem: null }
    const problem = this.#problemOf(() => {
      for (const part of parts) {
        read(part)
        if (this.#packer.count >= PACK_COUNT) events.push(this.#packer.take())
      }
      if (this.#packer.count > 0) events.push(this.#packer.take())
    })
    // What the packer then has may be broken off in the middle of an event.
    this.#hasGivenUp = problem !== null
    return { events, problem }
  }

  #problemOf(work: () => void): ReadProblem | null {
    try {
      if (within(this.#patternMs, work)) return null
      const text = describeSlowPattern(this.#parsing, this.#line, this.lineCount, this.#patternMs)
      return { ending: 'pattern', text }
    } catch (error) {
      if (error instanceof FormatError) return { ending: 'unreadable', text: error.message }
      throw error
    }
  }

  #read(lines: readonly string[]): void {
    const isMerging = this.#files.size > 0
    for (const line of lines) {
      this.lineCount++
      this.#line = line
      if (isMerging) this.#readBetweenRows(line)
      else this.#reader.readInto(this.#packer, line)
    }
  }

  /** The last step of a file waits for more of it, but came before what is saved now. */
  #readBetweenRows(line: string): void {
    const event = this.#reader.read(line)
    if (event === null) return
    for (const step of this.#steps.flush()) this.#packer.add(step)
    this.#packer.add(event)
  }
}
