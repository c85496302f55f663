import { UsageError } from '../domain/errors.ts'
import { unknown } from '../domain/target.ts'
import { cleanText } from '../domain/text.ts'
import { EXIT } from '../domain/verdict.ts'
import { type DecodersInvocation, decodersInvocation } from '../library/decoders/decoders-invocation.ts'
import { judgeDecoders, listDecoders } from '../library/decoders/judge-decoders.ts'
import { learnBaseline, listBaseline } from '../library/decoders/learn-baseline.ts'
import type { JudgedOutcome } from '../library/judge-suites.ts'
import { acceptedLines } from '../reporters/accepted-lines.ts'
import { inertJson } from '../reporters/json.ts'
import { askedFor, complain, notice } from './asked.ts'
import { interruptSignals } from './signals.ts'
import { hear, reportersFor } from './test.ts'

const ACTIONS = ['test', 'baseline'] as const
type Action = (typeof ACTIONS)[number]

const WORK = {
  test: { judge: judgeDecoders, list: listDecoders },
  baseline: { judge: learnBaseline, list: listBaseline },
} as const

export async function decoders(words: string[], options: Record<string, unknown>): Promise<number> {
  const { action, models } = readWords(words)
  const asked = askedFor(`decoders ${action}`, models, options)
  const invocation = await decodersInvocation(asked, notice)
  return invocation.values.list ? printIds(action, invocation) : judge(action, invocation)
}

function readWords([first, ...models]: readonly string[]): { action: Action; models: readonly string[] } {
  if (first === undefined) {
    throw new UsageError('decoders', 'what with decoders? write assay decoders test, or assay decoders baseline')
  }
  const action = ACTIONS.find((known) => known === first)
  if (action) return { action, models }
  if (/[/\\.]/.test(first)) throw new UsageError('decoders', `write assay decoders test ${first}`)
  throw unknown('decoders', `"${first}" of assay decoders`, first, ACTIONS)
}

async function printIds(action: Action, invocation: DecodersInvocation): Promise<number> {
  const { selected } = await WORK[action].list(invocation, notice)
  if (invocation.values.json) process.stdout.write(`${inertJson(selected, 2)}\n`)
  else for (const id of selected) process.stdout.write(`${cleanText(id, 10_000)}\n`)
  if (selected.length === 0) complain('no case matches')
  return selected.length > 0 || invocation.values.passWithNoTests ? EXIT.ok : EXIT.nothing
}

async function judge(action: Action, invocation: DecodersInvocation): Promise<number> {
  const { values, decoders } = invocation
  const reporters = await reportersFor(values)
  const signals = interruptSignals(notice)
  try {
    const log = decoders.log === 'fms' ? (line: string) => notice(cleanText(line, 4000)) : undefined
    const audience = { reporters, signals, notice, ...(log && { log }), ...(values.showOutput && { hear }) }
    return report(await WORK[action].judge(invocation, audience), values)
  } finally {
    signals.release()
  }
}

function report(outcome: JudgedOutcome, { keyword, pattern }: DecodersInvocation['values']): number {
  for (const problem of outcome.problems) complain(problem)
  if (outcome.accepted) for (const line of acceptedLines(outcome.accepted)) notice(line)
  if (outcome.header.plan.cases.length === 0) {
    complain(`no case matches ${keyword === undefined ? `-t "${pattern}"` : `-k "${keyword}"`}; --list prints all ids`)
  }
  return outcome.problems.length > 0 && outcome.exitCode === EXIT.ok ? EXIT.internal : outcome.exitCode
}
