import { type Clock, SYSTEM_CLOCK } from '../../domain/clock.ts'

/** A case ran longer than its limit. */
export class CaseTimeout extends Error {}

/** Counts a case's own time against its limit; time spent waiting for another case's work is not its own. */
export class CaseClock {
  readonly #controller = new AbortController()
  readonly #limitMs: number | null
  readonly #abort: AbortSignal
  readonly #clock: Clock
  readonly #pass = () => this.#controller.abort(this.#abort.reason)
  #leftMs: number
  #startedMs = 0
  #pauses = 0
  #cancel: () => void = () => {}

  constructor(limitMs: number | null, abort: AbortSignal, clock = SYSTEM_CLOCK) {
    this.#limitMs = limitMs
    this.#leftMs = limitMs ?? 0
    this.#abort = abort
    this.#clock = clock
    if (abort.aborted) this.#pass()
    abort.addEventListener('abort', this.#pass, { once: true })
    this.#start()
  }

  /** Aborted when the time is over or the run is to end now. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  async pausedWhile<T>(work: Promise<T>): Promise<T> {
    if (this.#pauses++ === 0) this.#halt()
    try {
      return await work
    } finally {
      if (--this.#pauses === 0) this.#start()
    }
  }

  stop(): void {
    this.#cancel()
    this.#abort.removeEventListener('abort', this.#pass)
  }

  #start(): void {
    if (this.#limitMs === null) return
    this.#startedMs = this.#clock.now()
    this.#cancel = this.#clock.after(Math.max(0, this.#leftMs), () => this.#expire())
  }

  #halt(): void {
    this.#cancel()
    this.#leftMs -= this.#clock.now() - this.#startedMs
  }

  #expire(): void {
    const limit = `${(this.#limitMs ?? 0) / 1000} s`
    this.#controller.abort(
      new CaseTimeout(`not finished within ${limit}; raise the limit of a case or look at its steps`),
    )
  }
}
