import type { Verdict } from '../domain/verdict.ts'
import { listRuns, readHeader, readRun } from './read-run.ts'
import { isFailure } from './summary.ts'

/** Cases that were last judged longer ago than so many runs count as never judged. */
const RUNS_READ = 100

/** What became of each case when it was last judged; those that never were are missing. */
async function lastVerdicts(runsFolder: string, ids: readonly string[]): Promise<Map<string, Verdict>> {
  const verdicts = new Map<string, Verdict>()
  const left = new Set(ids)
  for (const folder of (await listRuns(runsFolder)).reverse().slice(0, RUNS_READ)) {
    if (left.size === 0) break
    const { plan } = await readHeader(folder)
    if (!plan.selected.some((id) => left.has(id))) continue
    for (const { id, verdict } of (await readRun(folder)).results) if (left.delete(id)) verdicts.set(id, verdict)
  }
  return verdicts
}

/** Those that did not pass; null where there are none, so that all are to be judged, as in pytest. */
export async function lastFailed(
  runsFolder: string,
  ids: readonly string[],
  strict: boolean,
): Promise<ReadonlySet<string> | null> {
  const failed = [...(await lastVerdicts(runsFolder, ids))].filter(([, verdict]) => isFailure(verdict, strict))
  return failed.length > 0 ? new Set(failed.map(([id]) => id)) : null
}
