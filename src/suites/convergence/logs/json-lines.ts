import type { LogEvent } from '../../../domain/convergence.ts'
import type { Parsing } from '../config/contract.ts'
import { EventFinder } from './event-finder.ts'
import type { FileReader } from './file-reader.ts'
import { jsonRecord } from './json-record.ts'
import type { StepMerger } from './step-merger.ts'

/** How much of a line without an end is kept. */
const MAX_LINE_LENGTH = 2 ** 24

/** A file with a JSON object on each line. */
export function jsonLinesReader(parsing: Parsing, steps: StepMerger): FileReader {
  return new JsonLines(parsing, steps)
}

class JsonLines implements FileReader {
  readonly #finder: EventFinder
  readonly #steps: StepMerger
  readonly #decoder = new TextDecoder()
  #rest = ''
  #hasLongLine = false

  constructor({ modelSave, stepNum, metrics }: Parsing, steps: StepMerger) {
    this.#finder = new EventFinder({ modelSave: modelSave.kind === 'fields' ? modelSave : null, stepNum, metrics })
    this.#steps = steps
  }

  feed(bytes: Uint8Array): LogEvent[] {
    const lines = (this.#rest + this.#decoder.decode(bytes, { stream: true })).split('\n')
    this.#rest = lines.pop() ?? ''
    if (this.#rest.length > MAX_LINE_LENGTH) {
      this.#hasLongLine = true
      this.#rest = 'x'
    }
    return lines.flatMap((line) => this.#read(line))
  }

  /** A last line without its end counts where it is a whole object. */
  end(): LogEvent[] {
    const last = this.#rest + this.#decoder.decode()
    this.#rest = ''
    return [...this.#read(last), ...this.#steps.flush()]
  }

  get warnings(): readonly string[] {
    const long = this.#hasLongLine ? ['a line of the JSON file is too long to be a record and was left out'] : []
    return [...long, ...this.#finder.warnings]
  }

  #read(line: string): LogEvent[] {
    const event = this.#finder.event(line, jsonRecord(line))
    if (event === null) return []
    return event.kind === 'step' ? this.#steps.add(event.step, event.metrics) : [...this.#steps.flush(), event]
  }
}
