import { UsageError } from '../domain/errors.ts'
import { unknown } from '../domain/target.ts'
import { cleanText } from '../domain/text.ts'
import { type DecodersInvocation, decodersInvocation } from '../library/decoders/decoders-invocation.ts'
import { judgeDecoders, listDecoders } from '../library/decoders/judge-decoders.ts'
import { learnBaseline, listBaseline } from '../library/decoders/learn-baseline.ts'
import { askedFor } from './asked.ts'
import { type CommandIo, notice, type Action as RunCommand } from './io.ts'
import { withListeners } from './listeners.ts'
import { noCaseMatches, printCaseIds, reportOutcome } from './outcome.ts'

const ACTIONS = ['test', 'baseline'] as const
type Action = (typeof ACTIONS)[number]

const WORK = {
  test: { judge: judgeDecoders, list: listDecoders },
  baseline: { judge: learnBaseline, list: listBaseline },
} as const

export const decoders: RunCommand = async (words, options, io) => {
  const { action, models } = readWords(words)
  const say = (text: string) => notice(io, text)
  const invocation = await decodersInvocation(askedFor(`decoders ${action}`, models, options, io), say)
  const { values } = invocation
  if (!values.list) return judge(action, invocation, io)
  return printCaseIds(await WORK[action].list(invocation, say), values, noCaseMatches(values), io)
}

function readWords([first, ...models]: readonly string[]): { action: Action; models: readonly string[] } {
  if (first === undefined) {
    throw new UsageError('decoders', 'missing subcommand: use assay decoders test or assay decoders baseline')
  }
  const action = ACTIONS.find((known) => known === first)
  if (action) return { action, models }
  if (/[/\\.]/.test(first)) throw new UsageError('decoders', `write assay decoders test ${first}`)
  throw unknown('decoders', `"${first}" of assay decoders`, first, ACTIONS)
}

async function judge(action: Action, invocation: DecodersInvocation, io: CommandIo): Promise<number> {
  const { values, decoders } = invocation
  const log = (line: string) => notice(io, cleanText(line, 4000))
  const outcome = await withListeners(values, io, (listeners) =>
    WORK[action].judge(invocation, { ...listeners, ...(decoders.log === 'fms' && { log }) }),
  )
  return reportOutcome(outcome, noCaseMatches(values), io)
}
