import type { Reporter } from '../domain/run.ts'
import { cleanLog, cleanText } from '../domain/text.ts'
import type { RunListeners } from '../library/judge.ts'
import type { CommonValues } from '../options/common-values.ts'
import { createReporters } from '../reporters/registry.ts'
import { type CommandIo, notice } from './io.ts'
import { interruptSignals } from './signals.ts'

/** Does some work with reporters, interruption handling and, with `--show-output`, the output of tools. */
export async function withListeners<T>(
  values: CommonValues,
  io: CommandIo,
  work: (listeners: RunListeners) => Promise<T>,
): Promise<T> {
  const reporters = await reportersFor(values, io)
  const { signals, release } = interruptSignals(reporters, io)
  try {
    const onOutput = (target: string, line: string) => printOutput(target, line, io)
    return await work({
      reporters,
      signals,
      notice: (text) => notice(io, text),
      ...(values.showOutput && { onOutput }),
      ...(io.workers && { workers: io.workers }),
    })
  } finally {
    release()
  }
}

function reportersFor(
  { json, reporter, verbose, showOutput, color }: CommonValues,
  io: CommandIo,
): Promise<Reporter[]> {
  const specs = json ? [...reporter.filter((spec) => spec !== 'terminal'), 'json'] : reporter
  return createReporters(specs, { ...io, verbose, plain: showOutput, ...(color !== undefined && { color }) })
}

const LONGEST_LINE = 4000

/** Prints a line of a tool, after the name of the target that it works for. */
function printOutput(target: string, line: string, { stderr }: CommandIo): void {
  const { lines } = cleanLog(line, 1, LONGEST_LINE)
  stderr.write(`${cleanText(target, 80)} | ${lines[0] ?? ''}\n`)
}
