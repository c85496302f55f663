import { EXIT } from '../domain/verdict.ts'
import { type CommandRequest, type Invocation, invoke } from '../library/invocation.ts'
import { answer, type JudgedOutcome, judge, list } from '../library/judge.ts'
import { caseNotesLines } from '../reporters/case-notes-lines.ts'
import { Screen } from '../reporters/screen.ts'
import { type CommandIo, chooseStyle, notice } from './io.ts'
import { withListeners } from './listeners.ts'
import { printCaseIds, reportOutcome, whyNothing } from './outcome.ts'

/** What a command line asks of suites, without the facts about the process. */
type AskedCommand = Omit<CommandRequest, 'cwd' | 'environment'>

/** Judges what was asked for, or prints instead if an option asks for that. */
export async function judgeCommand(asked: AskedCommand, io: CommandIo): Promise<number> {
  const request = { ...asked, cwd: io.cwd, environment: io.env }
  const say = (text: string) => notice(io, text)
  const invocation = await invoke(request, say)
  if (invocation.values.list) return printIds(invocation, io)
  const answered = await answer(invocation, say)
  if (answered) {
    io.stdout.write(answered.lines.map((line) => `${line}\n`).join(''))
    return answered.exitCode
  }
  if (!invocation.values.watch) return judgeOnce(invocation, io)
  return (await import('./watch.ts')).watch(request, (next) => judgeOnce(next, io), io)
}

export async function printIds(invocation: Invocation, io: CommandIo): Promise<number> {
  const listed = await list(invocation, (text) => notice(io, text))
  return printCaseIds(listed, invocation.values, whyNothing(invocation), io)
}

async function judgeOnce(invocation: Invocation, io: CommandIo): Promise<number> {
  const outcome = await withListeners(invocation.values, io, (listeners) => judge(invocation, listeners))
  printNotes(outcome, invocation, io)
  if (outcome.exitCode === EXIT.interrupted) for (const line of outcome.ifInterrupted) notice(io, line)
  return reportOutcome(outcome, whyNothing(invocation), io)
}

/** On stderr, so that stdout holds only the JSON of --json. */
function printNotes({ notes }: JudgedOutcome, { values }: Invocation, io: CommandIo): void {
  const style = chooseStyle(io.stderr, io, values)
  for (const each of notes) new Screen(io.stderr, style).update(caseNotesLines(each, style), [])
}
