/** What time limits are measured with. */
export interface Clock {
  /** In milliseconds, from anywhere. */
  now(): number
  /** Calls back once, after this time; gives a function that cancels it. */
  after(ms: number, call: () => void): () => void
}

export const SYSTEM_CLOCK: Clock = {
  now: () => performance.now(),
  after(ms, call) {
    const timer = setTimeout(call, ms)
    return () => clearTimeout(timer)
  },
}

/** Counts the time that we wait for a worker, not the time that it waits for us. */
export class StageClock {
  readonly #clock: Clock
  readonly #onLate: () => void
  #remainingMs: number
  #resumedAt = 0
  #cancel: (() => void) | null = null

  constructor(limitMs: number, onLate: () => void, clock: Clock) {
    this.#remainingMs = limitMs
    this.#onLate = onLate
    this.#clock = clock
    this.resume()
  }

  resume(): void {
    this.#resumedAt = this.#clock.now()
    this.#cancel = this.#clock.after(Math.max(0, this.#remainingMs), this.#onLate)
  }

  pause(): void {
    if (this.#cancel === null) return
    this.#cancel()
    this.#cancel = null
    this.#remainingMs -= this.#clock.now() - this.#resumedAt
  }
}
