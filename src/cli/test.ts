import { UsageError } from '../domain/errors.ts'
import type { Reporter } from '../domain/run.ts'
import { cleanLog, cleanText } from '../domain/text.ts'
import { EXIT } from '../domain/verdict.ts'
import { type Asked, type Invocation, invocationOf } from '../library/invocation.ts'
import { judgeOnnx } from '../library/judge-onnx.ts'
import { acceptedLines } from '../reporters/accepted-lines.ts'
import { formsLines } from '../reporters/forms-lines.ts'
import { createReporters } from '../reporters/registry.ts'
import { Screen } from '../reporters/screen.ts'
import { createStyle } from '../reporters/style.ts'
import type { TestValues } from '../settings/test-values.ts'
import type { FormsDump } from '../suites/onnx/forms-dump.ts'
import { askedFor, complain, notice, whyNothing } from './asked.ts'
import { printIds } from './list.ts'
import { interruptSignals } from './signals.ts'

export function test(paths: string[], options: Record<string, unknown>): Promise<number> {
  return judge('test', paths, options)
}

/** Every suite in the configuration, as one run. */
export async function run(words: string[], options: Record<string, unknown>): Promise<number> {
  if (words.length > 0) {
    const [path] = words
    throw new UsageError(
      'path',
      `assay run judges what the configuration names, found "${path}"; write assay test ${path}`,
    )
  }
  return judge('run', [], options)
}

async function judge(command: Asked['command'], paths: string[], options: Record<string, unknown>): Promise<number> {
  const asked = askedFor(command, paths, options)
  const invocation = await invocationOf(asked)
  if (invocation.values.list) return printIds(invocation)
  if (!invocation.values.watch) return judgeOnce(invocation)
  return (await import('./watch.ts')).watch(asked, judgeOnce)
}

async function judgeOnce(invocation: Invocation): Promise<number> {
  const { values } = invocation
  const reporters = await reportersFor(values)
  const signals = interruptSignals(reporters)
  try {
    const outcome = await judgeOnnx(invocation, { reporters, signals, notice, ...(values.showOutput && { hear }) })
    if (outcome.forms) printForms(outcome.forms, values)
    for (const problem of outcome.problems) complain(problem)
    if (outcome.accepted) for (const line of acceptedLines(outcome.accepted)) notice(line)
    if (outcome.header.plan.cases.length === 0) complain(whyNothing(invocation))
    return outcome.problems.length > 0 && outcome.exitCode === EXIT.ok ? EXIT.internal : outcome.exitCode
  } finally {
    signals.release()
  }
}

export function reportersFor(values: TestValues): Promise<Reporter[]> {
  const specs = values.json ? [...values.reporter.filter((spec) => spec !== 'terminal'), 'json'] : values.reporter
  return createReporters(specs, reporterContext(values))
}

/** On stderr, so that --json stays alone on stdout. */
function printForms(forms: FormsDump, { color }: TestValues): void {
  const { stderr, env } = process
  const style = createStyle(stderr, { env, ...(color !== undefined && { color }) })
  new Screen(stderr, style).update(formsLines(forms, style), [])
}

const LONGEST_LINE = 4000

/** What tools print, under the name of the target that they work for. */
export function hear(target: string, line: string): void {
  const { lines } = cleanLog(line, 1, LONGEST_LINE)
  process.stderr.write(`${cleanText(target, 80)} | ${lines[0] ?? ''}\n`)
}

function reporterContext({ verbose, showOutput, color }: TestValues) {
  const { stdout, stderr, env } = process
  return { stdout, stderr, env, verbose, plain: showOutput, ...(color !== undefined && { color }) }
}
