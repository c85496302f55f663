import { constants, existsSync, realpathSync } from 'node:fs'
import { access } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { ExpectedFailure } from '../domain/expected-failure.ts'
import type { Result } from '../domain/result.ts'
import { chooseExitCode, countVerdicts, EXIT } from '../domain/verdict.ts'
import { explainWriteError } from '../files/disk/atomic.ts'
import type { CommonValues } from '../options/common-values.ts'
import type { Accepted } from '../reporters/accepted-lines.ts'
import type { RunOutcome } from '../runs/execute/execute.ts'
import { acceptFailures } from '../runs/expected/accept-failures.ts'
import { writeAccepted } from '../runs/expected/edit-expected.ts'
import { expectationsFor, withoutExpectation } from '../runs/expected/expected-failures.ts'
import type { ExpectedPlace } from '../runs/expected/expected-place.ts'
import { isFailure } from '../runs/record/summary.ts'

/** Writes entries for what does not pass now; the exit code is that of a run that had known them. */
export async function acceptOutcome(
  outcome: RunOutcome,
  before: readonly ExpectedFailure[],
  place: ExpectedPlace,
  values: CommonValues,
  today: string,
): Promise<{ readonly accepted: Accepted; readonly exitCode: number }> {
  const { results, header } = outcome
  const nothing = { file: place.shown, added: [], updated: [], removed: [], left: [] }
  if (header.state !== 'complete') {
    const what = header.state === 'interrupted' ? 'the run was interrupted' : 'the run failed as a whole'
    const accepted = { ...nothing, problem: `nothing was accepted: ${what}` }
    return { accepted, exitCode: outcome.exitCode }
  }
  const { strict, issue, expires } = values
  const notes = { ...(issue !== undefined && { issue }), ...(expires !== undefined && { expires }) }
  const change = acceptFailures(results, before, { strict, today, ...notes })
  const known = new Set(before.map(({ id }) => id))
  const isWritten = change.put.length + change.remove.length > 0
  const entries = isWritten ? await writeAccepted(place, change) : before
  const judged = judgedAgain(results, entries, today)
  const accepted = {
    file: place.shown,
    added: change.put.filter(({ id }) => !known.has(id)),
    updated: change.put.filter(({ id }) => known.has(id)),
    removed: change.remove,
    left: judged.filter(({ verdict }) => isFailure(verdict, strict)),
    ...(header.problem !== undefined && { problem: header.problem }),
  }
  return { accepted, exitCode: exitCodeNow(outcome, judged, values) }
}

/** The same results as if these entries had been there before. */
function judgedAgain(results: readonly Result[], entries: readonly ExpectedFailure[], today: string): Result[] {
  const ids = results.map(({ id }) => id)
  const expectations = expectationsFor({ entries, today }, ids)
  return results.map((result) => expectations.apply(withoutExpectation(result)))
}

/** What was not judged is not accepted. */
function exitCodeNow({ header, exitCode }: RunOutcome, judged: readonly Result[], values: CommonValues): number {
  if (header.problem !== undefined && exitCode !== EXIT.ok) return exitCode
  const { strict, passWithNoTests } = values
  const stale = header.summary?.stale?.length ?? 0
  return chooseExitCode(countVerdicts(judged.map(({ verdict }) => verdict)), { strict, passWithNoTests, stale })
}

/** Before a long run rather than after it. */
export async function refuseUnwritable({ path }: ExpectedPlace): Promise<void> {
  try {
    await access(dirname(existsSync(path) ? realpathSync(path) : path), constants.W_OK)
  } catch (error) {
    throw explainWriteError(error, path)
  }
}
