import type { LogEvent } from '../../../domain/convergence.ts'
import { cleanText } from '../../../domain/text.ts'
import type { Finder, Parsing } from '../config/contract.ts'
import { EventPacker, unpackEvents } from './packed-events.ts'
import { stepNumber } from './step-number.ts'
import { type Lookup, type ValueFinder, valueFinder } from './value-finder.ts'

interface MetricFinder {
  readonly name: string
  readonly finder: ValueFinder
  isOnSteps: boolean
  isElsewhere: boolean
}

const NOTHING: Finder = { kind: 'fields', fields: {} }

/** What one line or record says: first whether a model was saved, then the step and the metrics beside it. */
export class EventFinder {
  readonly #modelSave: ValueFinder
  readonly #stepNum: ValueFinder
  readonly #metrics: readonly MetricFinder[]
  /** Of the line that is read, and used again for the next one. */
  readonly #shape: { readonly metrics: readonly string[]; readonly labels: (readonly string[] | null)[] }
  readonly #texts: string[] = []
  readonly #problems = new Map<string, string>()

  constructor(parsing: Pick<Parsing, 'stepNum' | 'metrics'> & { readonly modelSave: Finder | null }) {
    this.#modelSave = valueFinder(parsing.modelSave ?? NOTHING)
    this.#stepNum = valueFinder(parsing.stepNum)
    this.#metrics = Object.entries(parsing.metrics).map(([name, finder]) => {
      return { name, finder: valueFinder(finder), isOnSteps: false, isElsewhere: false }
    })
    this.#shape = { metrics: Object.keys(parsing.metrics), labels: [] }
  }

  event(line: string, record: Lookup | null): LogEvent | null {
    const packer = new EventPacker()
    this.eventInto(packer, line, record)
    return unpackEvents(packer.take())[0] ?? null
  }

  eventInto(packer: EventPacker, line: string, record: Lookup | null): void {
    const checkpoint = this.#modelSave.first(line, record)
    if (checkpoint === null) this.#stepInto(packer, line, record)
    else packer.addSave(checkpoint)
  }

  step(line: string, record: Lookup | null): number | null {
    const text = this.#stepNum.first(line, record)
    if (text === null) return null
    const step = stepNumber(text)
    if (step === null) this.#noteStep(text)
    return step
  }

  get warnings(): readonly string[] {
    const elsewhere = this.#metrics.filter((metric) => metric.isElsewhere && !metric.isOnSteps)
    const lines = elsewhere.map(({ name }) => {
      const shown = cleanText(name, 80)
      return `${shown} was logged only on lines without a step number, which do not count; log both on one line`
    })
    return [...this.#problems.values(), ...lines]
  }

  #stepInto(packer: EventPacker, line: string, record: Lookup | null): void {
    const step = this.step(line, record)
    if (step === null) this.#noteMetrics(line, record)
    else {
      this.#collect(line, record)
      packer.addStep(step, this.#shape, this.#texts)
    }
  }

  #collect(line: string, record: Lookup | null): void {
    this.#texts.length = 0
    for (let i = 0; i < this.#metrics.length; i++) {
      const metric = this.#metrics[i]!
      const labels = metric.finder.collect(line, record, this.#texts)
      this.#shape.labels[i] = labels
      if (labels !== null) metric.isOnSteps = true
    }
  }

  /** Stops looking as soon as the answer is known. */
  #noteMetrics(line: string, record: Lookup | null): void {
    for (const metric of this.#metrics) {
      if (metric.isOnSteps || metric.isElsewhere) continue
      metric.isElsewhere = metric.finder.collect(line, record, []) !== null
    }
  }

  #noteStep(text: string): void {
    if (this.#problems.has('step')) return
    const shown = JSON.stringify(cleanText(text, 80))
    this.#problems.set('step', `step_num found ${shown}, which is not a whole number; such lines do not count as steps`)
  }
}
