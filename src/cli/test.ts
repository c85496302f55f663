import { UsageError } from '../domain/errors.ts'
import { type Asked, type Invocation, invocationOf } from '../library/invocation.ts'
import { judgeOnnx, planOnnx } from '../library/judge-onnx.ts'
import { formsLines } from '../reporters/forms-lines.ts'
import { Screen } from '../reporters/screen.ts'
import type { TestValues } from '../settings/test-values.ts'
import type { FormsDump } from '../suites/onnx/forms-dump.ts'
import { askedFor, whyNothing } from './asked.ts'
import { type Action, type CommandIo, notice, styleOf } from './io.ts'
import { withListeners } from './listeners.ts'
import { printCaseIds, reportOutcome } from './outcome.ts'

export const test: Action = (paths, options, io) => judge(askedFor('test', paths, options, io), io)

/** Every suite in the configuration, as one run. */
export const run: Action = async (words, options, io) => {
  if (words.length > 0) {
    const [path] = words
    throw new UsageError(
      'path',
      `assay run judges what the configuration names, found "${path}"; write assay test ${path}`,
    )
  }
  return judge(askedFor('run', [], options, io), io)
}

async function judge(asked: Asked, io: CommandIo): Promise<number> {
  const invocation = await invocationOf(asked)
  if (invocation.values.list) return printIds(invocation, io)
  if (!invocation.values.watch) return judgeOnce(invocation, io)
  return (await import('./watch.ts')).watch(asked, (next) => judgeOnce(next, io), io)
}

export async function printIds(invocation: Invocation, io: CommandIo): Promise<number> {
  const plan = await planOnnx(invocation, (text) => notice(io, text))
  return printCaseIds(plan, invocation.values, whyNothing(invocation), io)
}

async function judgeOnce(invocation: Invocation, io: CommandIo): Promise<number> {
  const { values } = invocation
  const outcome = await withListeners(values, io, (listeners) => judgeOnnx(invocation, listeners))
  if (outcome.forms) printForms(outcome.forms, values, io)
  return reportOutcome(outcome, whyNothing(invocation), io)
}

/** On stderr, so that --json stays alone on stdout. */
function printForms(forms: FormsDump, values: TestValues, io: CommandIo): void {
  const style = styleOf(io.stderr, io, values)
  new Screen(io.stderr, style).update(formsLines(forms, style), [])
}
