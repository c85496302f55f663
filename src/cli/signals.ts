import type { Reporter } from '../domain/run.ts'
import type { RunSignals } from '../runs/execute.ts'
import { notice } from './asked.ts'

/** SIGINT or SIGTERM once: finish what runs and report; twice: end now. */
export function interruptSignals(reporters: readonly Reporter[]): RunSignals & { release(): void } {
  const stop = new AbortController()
  const abort = new AbortController()
  const onSignal = () => {
    if (stop.signal.aborted) return abort.abort(new Error('interrupted'))
    const text = 'interrupted: finishing what runs; once more to end now'
    if (!reporters.some((reporter) => reporter.say?.(text))) notice(text)
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
