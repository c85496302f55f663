import { UsageError } from '../domain/errors.ts'
import { unknown } from '../domain/target.ts'
import { cleanText } from '../domain/text.ts'
import { type DecodersInvocation, decodersInvocation } from '../library/decoders/decoders-invocation.ts'
import { judgeDecoders, listDecoders } from '../library/decoders/judge-decoders.ts'
import { learnBaseline, listBaseline } from '../library/decoders/learn-baseline.ts'
import { askedFor, notice } from './asked.ts'
import { printCaseIds, reportOutcome } from './outcome.ts'
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
  return invocation.values.list
    ? printCaseIds(await WORK[action].list(invocation, notice), invocation.values)
    : judge(action, invocation)
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

async function judge(action: Action, invocation: DecodersInvocation): Promise<number> {
  const { values, decoders } = invocation
  const reporters = await reportersFor(values)
  const signals = interruptSignals(reporters)
  try {
    const log = decoders.log === 'fms' ? (line: string) => notice(cleanText(line, 4000)) : undefined
    const audience = { reporters, signals, notice, ...(log && { log }), ...(values.showOutput && { hear }) }
    return reportOutcome(await WORK[action].judge(invocation, audience), values)
  } finally {
    signals.release()
  }
}
