import type { Clock } from '../clock.ts'

interface Timer {
  readonly at: number
  readonly call: () => void
}

/** A clock that stands still until the test moves it. */
export class TestClock implements Clock {
  readonly #timers = new Set<Timer>()
  readonly #waiting: { left: number; readonly resolve: () => void }[] = []
  #now = 0

  now(): number {
    return this.#now
  }

  after(ms: number, call: () => void): () => void {
    const timer = { at: this.#now + ms, call }
    this.#timers.add(timer)
    for (const waiting of this.#waiting) if (--waiting.left === 0) waiting.resolve()
    return () => this.#timers.delete(timer)
  }

  /** Calls what is due on the way, in its order, and what that asks for. */
  advance(ms: number): void {
    const end = this.#now + ms
    for (let next = this.#next(); next !== null && next.at <= end; next = this.#next()) {
      this.#now = next.at
      this.#timers.delete(next)
      next.call()
    }
    this.#now = end
  }

  /** Moves on to the end of all limits that are being measured; there must be one. */
  runOut(): void {
    const ends = [...this.#timers].map(({ at }) => at)
    if (ends.length === 0) throw new Error('no limit is being measured')
    this.advance(Math.max(...ends) - this.#now)
  }

  /** Resolves when the next limit, or the next but so many, begins to be measured. */
  started(left = 1): Promise<void> {
    return new Promise((resolve) => this.#waiting.push({ left, resolve }))
  }

  #next(): Timer | null {
    let next: Timer | null = null
    for (const timer of this.#timers) if (next === null || timer.at < next.at) next = timer
    return next
  }
}
