import type { Verdict } from '../../domain/verdict.ts'
import type { Case } from '../contract.ts'
import { listRuns, readHeader, readRun } from '../record/read-run.ts'
import { isFailure } from '../record/summary.ts'

/** Cases that were last judged longer ago than so many runs count as never judged. */
const RUNS_READ = 100

type Judged = Pick<Case, 'id' | 'origin'>

/** What became of each case when it was last judged; those that never were are missing. */
async function lastVerdicts(runsFolder: string, cases: readonly Judged[]): Promise<Map<string, Verdict>> {
  const verdicts = new Map<string, Verdict>()
  const left = new Map(cases.map(({ id, origin }) => [id, origin]))
  for (const folder of (await listRuns(runsFolder)).reverse().slice(0, RUNS_READ)) {
    if (left.size === 0) break
    const { plan } = await readHeader(folder)
    if (!plan.selected.some((id) => left.has(id))) continue
    for (const { id, origin, verdict } of (await readRun(folder)).results)
      if (left.get(id) === origin && left.delete(id)) verdicts.set(id, verdict)
  }
  return verdicts
}

/** Those that did not pass; null where there are none, so that all are to be judged, as in pytest. */
export async function lastFailed(
  runsFolder: string,
  cases: readonly Judged[],
  strict: boolean,
): Promise<ReadonlySet<string> | null> {
  const failed = [...(await lastVerdicts(runsFolder, cases))].filter(([, verdict]) => isFailure(verdict, strict))
  return failed.length > 0 ? new Set(failed.map(([id]) => id)) : null
}
