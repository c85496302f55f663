import type { StaleEntry } from '../../domain/expected-failure.ts'
import type { Result } from '../../domain/result.ts'
import type { StageDurations, Summary } from '../../domain/run.ts'
import {
  chooseExitCode,
  countVerdicts,
  type ExitOptions,
  STAGES,
  type Stage,
  type Verdict,
} from '../../domain/verdict.ts'

export function summarise(
  results: readonly Result[],
  durationMs: number,
  exit: Omit<ExitOptions, 'stale'>,
  stale: readonly StaleEntry[] = [],
): Summary {
  const counts = countVerdicts(results.map((result) => result.verdict))
  const exitCode = chooseExitCode(counts, { ...exit, stale: stale.length })
  return { counts, durationMs, stages: stageDurations(results), exitCode, ...(stale.length > 0 && { stale }) }
}

/** Over the steps that were really done; products that were found or awaited cost nothing. */
function stageDurations(results: readonly Result[]): Partial<Record<Stage, StageDurations>> {
  const durations: Partial<Record<Stage, StageDurations>> = {}
  for (const stage of STAGES) {
    const steps = results.flatMap((result) => result.steps.filter((step) => step.stage === stage && !step.cached))
    if (steps.length === 0) continue
    const totalMs = steps.reduce((sum, step) => sum + step.durationMs, 0)
    const minMs = steps.reduce((least, step) => Math.min(least, step.durationMs), Infinity)
    durations[stage] = { totalMs, count: steps.length, meanMs: totalMs / steps.length, minMs }
  }
  return durations
}

export function isFailure(verdict: Verdict, strict = false): boolean {
  return verdict === 'fail' || verdict === 'error' || verdict === 'xpass' || (strict && verdict === 'inconclusive')
}
