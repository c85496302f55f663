import type { RunEvent } from '../../domain/run.ts'
import type { ReporterContext } from '../context.ts'
import { TerminalReporter } from '../terminal.ts'
import { KeptStream, sampleContext } from './sample-run.ts'

/** What the terminal reporter prints of these events. */
export function report(
  events: readonly RunEvent[],
  stream = new KeptStream(),
  change: Partial<ReporterContext> = {},
): string {
  const reporter = new TerminalReporter(stream, sampleContext(stream, change))
  for (const event of events) reporter.onEvent(event)
  return stream.text
}
