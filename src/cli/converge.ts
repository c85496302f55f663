import { UsageError } from '../domain/errors.ts'
import { shellWord } from '../domain/shell.ts'
import { unknown } from '../domain/target.ts'
import { cleanText } from '../domain/text.ts'
import { EXIT } from '../domain/verdict.ts'
import { type ConvergeInvocation, convergeInvocation } from '../library/convergence/converge-invocation.ts'
import { judgeConvergence, listConvergence } from '../library/convergence/judge-convergence.ts'
import { type ProgramLine, programLines } from '../library/convergence/program-lines.ts'
import { askedFor } from './asked.ts'
import { type Action, type CommandIo, notice } from './io.ts'
import { withListeners } from './listeners.ts'
import { noCaseMatches, printCaseIds, reportOutcome } from './outcome.ts'

const ACTIONS = ['accept'] as const

export const converge: Action = async (words, options, io) => {
  const renews = readWords(words)
  const invocation = await convergeInvocation(askedFor('converge', [], options, io))
  const { values, converge: asked } = invocation
  if (renews && asked.gather) throw new UsageError('converge', 'accept renews what was gathered; leave -g out')
  if (values.list) return printIds(invocation, io)
  if (asked.dryRun) return printPrograms(invocation, io)
  return judge(invocation, renews, io)
}

function readWords([first, ...more]: readonly string[]): boolean {
  if (first === undefined) return false
  if (first === 'accept' && more.length === 0) return true
  if (/\.ya?ml$/.test(first)) throw new UsageError('converge', `write assay converge -t ${first} -s <storage>`)
  throw unknown('converge', `"${more[0] ?? first}" of assay converge`, more[0] ?? first, ACTIONS)
}

async function printIds(invocation: ConvergeInvocation, io: CommandIo): Promise<number> {
  const plan = await listConvergence(invocation, (text) => notice(io, text))
  return printCaseIds(plan, invocation.values, noCaseMatches(invocation.values, '--pattern'), io)
}

async function printPrograms(invocation: ConvergeInvocation, io: CommandIo): Promise<number> {
  const programs = await programLines(invocation, (text) => notice(io, text))
  for (const program of programs) {
    io.stdout.write(`${cleanText(program.id, 10_000)}\n${programText(program)}\n`)
  }
  if (programs.some((program) => 'problem' in program)) return EXIT.failed
  return programs.length > 0 ? EXIT.ok : EXIT.nothing
}

function programText(program: ProgramLine): string {
  if ('problem' in program) return `  ✗ ${cleanText(program.problem, 10_000)}`
  return `  cd ${shellWord(program.cwd)}\n  ${program.argv.map(shellWord).join(' ')}`
}

async function judge(invocation: ConvergeInvocation, renews: boolean, io: CommandIo): Promise<number> {
  const { values } = invocation
  const outcome = await withListeners(values, io, (listeners) =>
    judgeConvergence(invocation, listeners, renews ? 'renew' : 'judge'),
  )
  if (outcome.exitCode === EXIT.interrupted && invocation.converge.gather)
    notice(io, 'windows that were recorded stay; the same command goes on from the last of them')
  return reportOutcome(outcome, noCaseMatches(values, '--pattern'), io)
}
