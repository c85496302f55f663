import type { Clock } from '../stage-clock.ts'

interface Timer {
  readonly at: number
  readonly call: () => void
}

/** A clock that stands still until the test moves it. */
export class TestClock implements Clock {
  readonly #timers = new Set<Timer>()
  readonly #waiting: (() => void)[] = []
  #now = 0

  now(): number {
    return this.#now
  }

  after(ms: number, call: () => void): () => void {
    const timer = { at: this.#now + ms, call }
    this.#timers.add(timer)
    for (const resolve of this.#waiting.splice(0)) resolve()
    return () => this.#timers.delete(timer)
  }

  advance(ms: number): void {
    this.#now += ms
    for (const timer of this.#timers) {
      if (timer.at > this.#now) continue
      this.#timers.delete(timer)
      timer.call()
    }
  }

  /** Moves on to the end of all limits that are being measured; there must be one. */
  runOut(): void {
    const ends = [...this.#timers].map(({ at }) => at)
    if (ends.length === 0) throw new Error('no limit is being measured')
    this.advance(Math.max(...ends) - this.#now)
  }

  /** Resolves when the next limit begins to be measured. */
  started(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve))
  }
}
