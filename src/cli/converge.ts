import { UsageError } from '../domain/errors.ts'
import { shellWord } from '../domain/shell.ts'
import { unknown } from '../domain/target.ts'
import { cleanText } from '../domain/text.ts'
import { EXIT } from '../domain/verdict.ts'
import { type ConvergeInvocation, convergeInvocation } from '../library/convergence/converge-invocation.ts'
import { judgeConvergence, listConvergence } from '../library/convergence/judge-convergence.ts'
import { type ProgramLine, programLines } from '../library/convergence/program-lines.ts'
import { askedFor, notice } from './asked.ts'
import { printCaseIds, reportOutcome } from './outcome.ts'
import { interruptSignals } from './signals.ts'
import { hear, reportersFor } from './test.ts'

const ACTIONS = ['accept'] as const

export async function converge(words: string[], options: Record<string, unknown>): Promise<number> {
  const renews = readWords(words)
  const invocation = await convergeInvocation(askedFor('converge', [], options))
  const { values, converge: asked } = invocation
  if (renews && asked.gather) throw new UsageError('converge', 'accept renews what was gathered; leave -g out')
  if (values.list) return printCaseIds(await listConvergence(invocation, notice), values)
  if (asked.dryRun) return printPrograms(invocation)
  return judge(invocation, renews)
}

function readWords([first, ...more]: readonly string[]): boolean {
  if (first === undefined) return false
  if (first === 'accept' && more.length === 0) return true
  if (/\.ya?ml$/.test(first)) throw new UsageError('converge', `write assay converge -t ${first} -s <storage>`)
  throw unknown('converge', `"${more[0] ?? first}" of assay converge`, more[0] ?? first, ACTIONS)
}

async function printPrograms(invocation: ConvergeInvocation): Promise<number> {
  const programs = await programLines(invocation, notice)
  for (const program of programs) {
    process.stdout.write(`${cleanText(program.id, 10_000)}\n${programText(program)}\n`)
  }
  if (programs.some((program) => 'problem' in program)) return EXIT.failed
  return programs.length > 0 ? EXIT.ok : EXIT.nothing
}

function programText(program: ProgramLine): string {
  if ('problem' in program) return `  ✗ ${cleanText(program.problem, 10_000)}`
  return `  cd ${shellWord(program.cwd)}\n  ${program.argv.map(shellWord).join(' ')}`
}

async function judge(invocation: ConvergeInvocation, renews: boolean): Promise<number> {
  const { values } = invocation
  const reporters = await reportersFor(values)
  const signals = interruptSignals(reporters)
  try {
    const audience = { reporters, signals, notice, ...(values.showOutput && { hear }) }
    const outcome = await judgeConvergence(invocation, audience, renews ? 'renew' : 'judge')
    if (outcome.exitCode === EXIT.interrupted && invocation.converge.gather)
      notice('windows that were recorded stay; the same command goes on from the last of them')
    return reportOutcome(outcome, values, '--pattern')
  } finally {
    signals.release()
  }
}
