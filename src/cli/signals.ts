import type { RunSignals } from '../runs/execute.ts'

/** SIGINT or SIGTERM once: finish what runs and report; twice: end now. */
export function interruptSignals(notice: (text: string) => void): RunSignals & { release(): void } {
  const stop = new AbortController()
  const abort = new AbortController()
  const onSignal = () => {
    if (stop.signal.aborted) return abort.abort(new Error('interrupted'))
    notice('interrupted: finishing what runs; once more to end now')
    stop.abort()
  }
  process.on('SIGINT', onSignal)
  process.on('SIGTERM', onSignal)
  const release = () => {
    process.off('SIGINT', onSignal)
    process.off('SIGTERM', onSignal)
  }
  return { stop: stop.signal, abort: abort.signal, release }
}
