import type { Reporter, RunEvent } from '../../domain/run.ts'
import { describeError } from './blame.ts'

/** Gives every event to every reporter, in order; a reporter that throws is named once and harms nobody else. */
export class Announcer {
  readonly problems: string[] = []
  readonly #reporters: readonly Reporter[]
  readonly #broken = new Set<Reporter>()
  #last: Promise<void> = Promise.resolve()

  constructor(reporters: readonly Reporter[]) {
    this.#reporters = reporters
  }

  /** Awaiting it keeps a run from outpacing a slow reporter. */
  emit(event: RunEvent): Promise<void> {
    this.#last = this.#last.then(() => this.#deliver(event))
    return this.#last
  }

  async #deliver(event: RunEvent): Promise<void> {
    for (const reporter of this.#reporters) {
      try {
        await reporter.onEvent(event)
      } catch (error) {
        await this.#accuse(reporter, event, error)
      }
    }
  }

  async #accuse(reporter: Reporter, event: RunEvent, error: unknown): Promise<void> {
    if (this.#broken.has(reporter)) return
    this.#broken.add(reporter)
    const text = `reporter ${this.#reporters.indexOf(reporter) + 1} (${reporter.constructor.name}) failed at ${event.type}: ${describeError(error)}`
    this.problems.push(text)
    await this.#deliver({ type: 'notice', text })
  }
}
