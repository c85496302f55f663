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
