/** Counts the time that we wait for a worker, not the time that it waits for us. */
export class StageClock {
  readonly #onLate: () => void
  #remainingMs: number
  #resumedAt = 0
  #timer: NodeJS.Timeout | null = null

  constructor(limitMs: number, onLate: () => void) {
    this.#remainingMs = limitMs
    this.#onLate = onLate
    this.resume()
  }

  resume(): void {
    this.#resumedAt = performance.now()
    this.#timer = setTimeout(this.#onLate, Math.max(0, this.#remainingMs))
  }

  pause(): void {
    if (this.#timer === null) return
    clearTimeout(this.#timer)
    this.#timer = null
    this.#remainingMs -= performance.now() - this.#resumedAt
  }
}
