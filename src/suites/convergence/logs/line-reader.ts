import type { LogEvent } from '../../../domain/convergence.ts'
import type { Parsing } from '../config/contract.ts'
import { EventFinder } from './event-finder.ts'
import { jsonRecord } from './json-record.ts'
import type { EventPacker } from './packed-events.ts'

export interface LineReader {
  read(line: string): LogEvent | null
  /** Does the same without an object for the event, which is faster. */
  readInto(packer: EventPacker, line: string): void
  /** Warnings about the lines so far. */
  readonly warnings: readonly string[]
}

/** Reads lines of a stream, without their ends; where metrics come from a file, only saves are read here. */
export function lineReader(parsing: Parsing): LineReader {
  const { kind } = parsing.source
  return kind === 'lines' || kind === 'jsonl' ? new MetricLines(parsing) : new SaveLines(parsing)
}

class MetricLines implements LineReader {
  readonly #finder: EventFinder
  readonly #hasRecords: boolean

  constructor(parsing: Parsing) {
    this.#finder = new EventFinder(parsing)
    this.#hasRecords = parsing.source.kind === 'jsonl'
  }

  read(line: string): LogEvent | null {
    return this.#finder.event(line, this.#hasRecords ? jsonRecord(line) : null)
  }

  readInto(packer: EventPacker, line: string): void {
    this.#finder.eventInto(packer, line, this.#hasRecords ? jsonRecord(line) : null)
  }

  get warnings(): readonly string[] {
    return this.#finder.warnings
  }
}

/** The file of metrics may lag behind the stream, so a save says after which step it came where lines tell. */
class SaveLines implements LineReader {
  readonly #finder: EventFinder
  #step: number | null = null

  constructor({ modelSave, lineStepNum }: Parsing) {
    const stepNum = lineStepNum ?? ({ kind: 'fields', fields: {} } as const)
    this.#finder = new EventFinder({ modelSave: modelSave.kind === 'pattern' ? modelSave : null, stepNum, metrics: {} })
  }

  read(line: string): LogEvent | null {
    const event = this.#finder.event(line, null)
    if (event?.kind === 'step') this.#step = event.step
    if (event?.kind !== 'save') return null
    // The line that says so may have the step too.
    const step = this.#finder.step(line, null) ?? this.#step
    return step === null ? event : { ...event, step }
  }

  readInto(packer: EventPacker, line: string): void {
    const event = this.read(line)
    if (event !== null) packer.add(event)
  }

  get warnings(): readonly string[] {
    return this.#finder.warnings
  }
}
