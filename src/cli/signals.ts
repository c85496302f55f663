import type { Reporter } from '../domain/run.ts'
import type { RunSignals } from '../runs/execute/execute.ts'
import { type CommandIo, notice, onInterrupt } from './io.ts'

/** First interruption: finish running cases and report. Second: stop now. */
export function interruptSignals(
  reporters: readonly Reporter[],
  io: CommandIo,
): { readonly signals: RunSignals; release(): void } {
  const stop = new AbortController()
  const abort = new AbortController()
  const release = onInterrupt(io, () => {
    if (stop.signal.aborted) return abort.abort(new Error('interrupted'))
    const text = 'interrupted: finishing running cases; interrupt again to stop now'
    if (!reporters.some((reporter) => reporter.say?.(text))) notice(io, text)
    stop.abort()
  })
  return { signals: { stop: stop.signal, abort: abort.signal }, release }
}
