import type { LogEvent, LoggedMetrics, LoggedValues } from '../../domain/convergence.ts'
import { cleanText } from '../../domain/text.ts'
import type { Finder, Parsing } from './contract.ts'
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
  readonly #problems = new Map<string, string>()

  constructor(parsing: Pick<Parsing, 'stepNum' | 'metrics'> & { readonly modelSave: Finder | null }) {
    this.#modelSave = valueFinder(parsing.modelSave ?? NOTHING)
    this.#stepNum = valueFinder(parsing.stepNum)
    this.#metrics = Object.entries(parsing.metrics).map(([name, finder]) => {
      return { name, finder: valueFinder(finder), isOnSteps: false, isElsewhere: false }
    })
  }

  event(line: string, record: Lookup | null): LogEvent | null {
    const checkpoint = this.#modelSave.first(line, record)
    if (checkpoint !== null) return { kind: 'save', checkpoint }
    const step = this.step(line, record)
    if (step !== null) return { kind: 'step', step, metrics: this.#metricsOf(line, record) }
    this.#noteMetrics(line, record)
    return null
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

  #metricsOf(line: string, record: Lookup | null): LoggedMetrics {
    const metrics: Record<string, LoggedValues> = {}
    for (const metric of this.#metrics) {
      const values = metric.finder.all(line, record)
      if (values === null) continue
      metrics[metric.name] = values
      metric.isOnSteps = true
    }
    return metrics
  }

  /** Looks no longer once there is something to say, or nothing. */
  #noteMetrics(line: string, record: Lookup | null): void {
    for (const metric of this.#metrics) {
      if (metric.isOnSteps || metric.isElsewhere) continue
      metric.isElsewhere = metric.finder.all(line, record) !== null
    }
  }

  #noteStep(text: string): void {
    if (this.#problems.has('step')) return
    const shown = JSON.stringify(cleanText(text, 80))
    this.#problems.set('step', `step_num found ${shown}, which is no whole number; such lines do not count as steps`)
  }
}
