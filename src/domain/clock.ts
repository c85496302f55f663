/** The clock that time limits are measured with. */
export interface Clock {
  /** Milliseconds since an arbitrary start. */
  now(): number
  /** Calls back once after this time; returns a function that cancels it. */
  after(ms: number, call: () => void): () => void
}

export const SYSTEM_CLOCK: Clock = {
  now: () => performance.now(),
  after(ms, call) {
    const timer = setTimeout(call, ms)
    return () => clearTimeout(timer)
  },
}
