import type { LogEvent, LoggedMetrics, LoggedValues } from '../../../domain/convergence.ts'

const MAX_STEPS = 1_000_000

/** Joins records of one step: loggers write each metric on its own, or validation on another row. */
export class StepMerger {
  readonly #known = new Map<number, LoggedMetrics>()
  #pending: number | null = null

  /** Later values replace earlier ones; returns the previous step when another begins. */
  add(step: number, metrics: LoggedMetrics): LogEvent[] {
    const events = step === this.#pending ? [] : this.flush()
    this.#known.set(step, joined(this.#known.get(step) ?? {}, metrics))
    this.#pending = step
    if (this.#known.size > MAX_STEPS) this.#known.delete(this.#known.keys().next().value!)
    return events
  }

  flush(): LogEvent[] {
    const step = this.#pending
    this.#pending = null
    return step === null ? [] : [{ kind: 'step', step, metrics: this.#known.get(step) ?? {} }]
  }
}

/** Labels of one metric may come apart too. */
function joined(known: LoggedMetrics, metrics: LoggedMetrics): LoggedMetrics {
  const all: Record<string, LoggedValues> = { ...known }
  for (const [name, values] of Object.entries(metrics)) all[name] = { ...known[name], ...values }
  return all
}
