import type { Clock } from '../../domain/clock.ts'

/** Counts the time the host waits for a worker, not the time the worker waits for the host. */
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
