import type { LogEvent } from '../../../domain/convergence.ts'
import { findEntry } from '../../../domain/entry.ts'
import { suggestWord } from '../../../domain/suggest.ts'
import { cleanText } from '../../../domain/text.ts'
import type { Parsing } from '../config/contract.ts'
import { EventRecords } from './event-records.ts'
import type { FileReader } from './file-reader.ts'
import { readScalarEvent } from './scalar-events.ts'
import type { StepMerger } from './step-merger.ts'

const MAX_TAGS_KEPT = 1000

/** One event file; a record that is not complete at the end was torn off and does not count. */
export function tensorboardReader(parsing: Parsing, steps: StepMerger): FileReader {
  return new Tensorboard(parsing, steps)
}

interface Place {
  readonly metric: string
  readonly label: string
}

class Tensorboard implements FileReader {
  readonly #records = new EventRecords()
  readonly #places = new Map<string, Place[]>()
  readonly #tags = new Set<string>()
  readonly #steps: StepMerger
  #hasBadStep = false

  constructor({ metrics }: Parsing, steps: StepMerger) {
    this.#steps = steps
    for (const [metric, finder] of Object.entries(metrics)) {
      if (finder.kind !== 'fields') continue
      for (const [label, tag] of Object.entries(finder.fields)) {
        this.#places.set(tag, [...(this.#places.get(tag) ?? []), { metric, label }])
      }
    }
  }

  feed(bytes: Uint8Array): LogEvent[] {
    return this.#records.feed(bytes).flatMap((record) => this.#read(record))
  }

  end(): LogEvent[] {
    return this.#steps.flush()
  }

  get warnings(): readonly string[] {
    const missing = [...this.#places.keys()].filter((tag) => !this.#tags.has(tag) && this.#tags.size > 0)
    const lines = missing.map((tag) => {
      const tags = [...this.#tags]
      const hint = suggestWord(tag, tags, `there are ${cleanText(tags.join(', '), 200)}`)
      return `no TensorBoard event has the tag "${cleanText(tag, 80)}"; ${hint}`
    })
    const steps = this.#hasBadStep ? ['TensorBoard events with a step below 0 were left out'] : []
    return [...lines, ...steps]
  }

  #read(record: Uint8Array): LogEvent[] {
    const { step, scalars } = readScalarEvent(record)
    const metrics: Record<string, Record<string, string>> = {}
    for (const [tag, text] of scalars) {
      if (this.#tags.size < MAX_TAGS_KEPT || this.#places.has(tag)) this.#tags.add(tag)
      for (const { metric, label } of this.#places.get(tag) ?? []) {
        metrics[metric] = { ...findEntry(metrics, metric), [label]: text }
      }
    }
    if (Object.keys(metrics).length === 0) return []
    if (step !== null) return this.#steps.add(step, metrics)
    this.#hasBadStep = true
    return []
  }
}
