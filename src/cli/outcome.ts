import { cleanText } from '../domain/text.ts'
import { EXIT } from '../domain/verdict.ts'
import type { Invocation } from '../library/invocation.ts'
import type { JudgedOutcome } from '../library/judge.ts'
import type { CommonValues } from '../options/common-values.ts'
import { firstFlag } from '../options/table.ts'
import { acceptedLines } from '../reporters/accepted-lines.ts'
import { inertJson } from '../reporters/json.ts'
import { type CommandIo, complain, notice } from './io.ts'

/** Ids contain file names, which may contain anything. */
const LONGEST_ID = 10_000

/** For `--list`. `whyNone` is printed if no case was found at all. */
export function printCaseIds(
  { cases, selected }: { readonly cases: readonly string[]; readonly selected: readonly string[] },
  { json, passWithNoTests }: CommonValues,
  whyNone: string,
  io: CommandIo,
): number {
  if (cases.length === 0) complain(io, whyNone)
  if (json) io.stdout.write(`${inertJson(selected, 2)}\n`)
  else for (const id of selected) io.stdout.write(`${cleanText(id, LONGEST_ID)}\n`)
  return selected.length > 0 || passWithNoTests ? EXIT.ok : EXIT.nothing
}

/** Prints what reporters do not, and gives the exit code. */
export function reportOutcome(outcome: JudgedOutcome, whyNone: string, io: CommandIo): number {
  for (const problem of outcome.problems) complain(io, problem)
  if (outcome.accepted) for (const line of acceptedLines(outcome.accepted)) notice(io, line)
  if (outcome.header.plan.cases.length === 0) complain(io, whyNone)
  return outcome.problems.length > 0 && outcome.exitCode === EXIT.ok ? EXIT.internal : outcome.exitCode
}

/** Why nothing was collected, and what to do about it. */
export function whyNothing({ asked, values, table }: Invocation): string {
  const said = asked.flatMap(({ work, asked: what }) => work.whyNothing?.(what) ?? [])
  return said[0] ?? noCaseMatches(values, firstFlag(table.pattern!))
}

function noCaseMatches({ keyword, pattern }: CommonValues, patternFlag: string): string {
  if (keyword === undefined && pattern === undefined) return 'no case was found'
  const selection = keyword === undefined ? `${patternFlag} "${pattern}"` : `-k "${keyword}"`
  return `no case matches ${selection}; --list prints all ids`
}
