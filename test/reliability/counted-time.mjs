// Timers of a second that wait for operations on files instead, so that what happens within a second is the same on
// every machine.
let nowMs = 0
let tickMs = 0
const waiting = new Map()

export const countedMs = () => nowMs

/** From now on, timers of exactly a second are counted. */
export function countTime(eachMs) {
  const isCounting = tickMs > 0
  tickMs = eachMs
  if (isCounting) return
  const { setTimeout: realSet, clearTimeout: realClear } = globalThis
  globalThis.setTimeout = Object.assign((work, delayMs, ...args) => {
    if (delayMs !== 1000) return realSet(work, delayMs, ...args)
    const timer = { unref: () => timer, ref: () => timer }
    waiting.set(timer, { dueMs: nowMs + delayMs, work: () => work(...args) })
    return timer
  }, realSet)
  globalThis.clearTimeout = (timer) => void (waiting.delete(timer) || realClear(timer))
}

export function passTime() {
  nowMs += tickMs
  for (const [timer, { dueMs, work }] of waiting) {
    if (dueMs > nowMs) continue
    waiting.delete(timer)
    queueMicrotask(work)
  }
}
