import { FormatError, SkipCase, StageError } from '../../domain/errors.ts'
import type { CaseError, Result, StepRecord } from '../../domain/result.ts'
import type { Stage } from '../../domain/verdict.ts'
import type { Case, Judgement } from '../contract.ts'
import type { PlannedWork } from '../plan/plan.ts'
import { describeError, readStack } from './blame.ts'
import { CaseTimeout } from './case-clock.ts'
import type { CaseLab } from './lab.ts'

export interface Judged {
  readonly result: Result
  /** Gives the result in the light of the others; null where they have no say in it. */
  readonly settle: ((results: ReadonlyMap<string, Result>) => Result) | null
}

/** Judges one case; whatever goes wrong becomes its result. Waits no longer than the case's signal allows. */
export async function judgeCase(work: PlannedWork, lab: CaseLab, reproduce: string): Promise<Judged> {
  const { c, suite } = work
  const { settle, ...judgement } = await judgementOf(() => suite.judge(c, lab), lab)
  const { steps } = lab
  const result = {
    ...identityOf(c),
    ...withProof(judgement),
    reproduce,
    durationsMs: durationsByStage(steps),
    steps,
    artifacts: [...lab.artifacts],
  }
  return { result, settle: settle ? (results) => withProof({ ...result, ...settle(results) }) : null }
}

function identityOf({ id, suite, model, scope, reference, target, origin, part }: Case) {
  return { id, suite, model, scope, reference, target, ...(origin && { origin }), ...(part && { part }) }
}

async function judgementOf(judge: () => Promise<Judgement>, lab: CaseLab): Promise<Judgement> {
  try {
    return await Promise.race([judge(), rejectedBy(lab.signal)])
  } catch (error) {
    if (error instanceof SkipCase) return unjudged('skip', { reason: error.message, flags: error.flags })
    return unjudged('error', { error: caseError(lab.signal.aborted ? lab.signal.reason : error, lab) })
  }
}

function rejectedBy(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}

type Why = Partial<Pick<Judgement, 'reason' | 'error' | 'flags'>>

function unjudged(verdict: 'skip' | 'error', why: Why): Judgement {
  const coverage = { compared: 0, expected: 0 }
  return { verdict, flags: [], coverage, metrics: [], outputs: [], worst: [], measurements: {}, ...why }
}

function caseError(error: unknown, lab: CaseLab): CaseError {
  if (error instanceof StageError) {
    return { ...error.detail, stage: error.stage, ...(error.side && { side: error.side }), message: error.message }
  }
  const last = lab.lastStep
  const stage = last?.stage ?? stageWithoutSteps(error)
  const title = error instanceof CaseTimeout && last ? ` (while: ${last.title})` : ''
  return { ...readStack(error), stage, ...(last?.side && { side: last.side }), message: describeError(error) + title }
}

function stageWithoutSteps(error: unknown): Stage {
  return error instanceof FormatError ? 'import' : 'discover'
}

/** A pass that did not compare all it should have proves nothing; no suite may give one. */
function withProof<J extends Judgement>(judgement: J): J {
  const { verdict, coverage } = judgement
  const isProven = coverage.compared > 0 && coverage.compared >= coverage.expected
  if (verdict !== 'pass' || isProven) return judgement
  const message = `judged as pass, but only ${coverage.compared} of ${coverage.expected} were compared`
  return { ...judgement, verdict: 'error', error: { stage: 'compare', message } }
}

/** The work this case did itself; what it found or awaited is counted where it was done. */
function durationsByStage(steps: readonly StepRecord[]): Partial<Record<Stage, number>> {
  const durations: Partial<Record<Stage, number>> = {}
  for (const step of steps) {
    if (!step.cached) durations[step.stage] = (durations[step.stage] ?? 0) + step.durationMs
  }
  return durations
}
