import { cleanText } from '../domain/text.ts'
import { EXIT } from '../domain/verdict.ts'
import type { JudgedOutcome } from '../library/judge-suites.ts'
import { acceptedLines } from '../reporters/accepted-lines.ts'
import { inertJson } from '../reporters/json.ts'
import type { TestValues } from '../settings/test-values.ts'
import { complain, notice } from './asked.ts'

/** `--list` of a suite that has no models to name. */
export function printCaseIds(
  { selected }: { readonly selected: readonly string[] },
  { json, passWithNoTests }: TestValues,
): number {
  if (json) process.stdout.write(`${inertJson(selected, 2)}\n`)
  else for (const id of selected) process.stdout.write(`${cleanText(id, 10_000)}\n`)
  if (selected.length === 0) complain('no case matches')
  return selected.length > 0 || passWithNoTests ? EXIT.ok : EXIT.nothing
}

/** What reporters do not say, and the exit code. */
export function reportOutcome(outcome: JudgedOutcome, { keyword, pattern }: TestValues, patternFlag = '-t'): number {
  for (const problem of outcome.problems) complain(problem)
  if (outcome.accepted) for (const line of acceptedLines(outcome.accepted)) notice(line)
  if (outcome.header.plan.cases.length === 0) {
    const selection = keyword === undefined ? `${patternFlag} "${pattern}"` : `-k "${keyword}"`
    complain(`no case matches ${selection}; --list prints all ids`)
  }
  return outcome.problems.length > 0 && outcome.exitCode === EXIT.ok ? EXIT.internal : outcome.exitCode
}
