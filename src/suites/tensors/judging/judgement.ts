import type { TraceComparison } from '../../../compare/contract.ts'
import { INPUTS_FOUND, type SensitivityBand } from '../../../domain/result.ts'
import type { Side, Verdict } from '../../../domain/verdict.ts'
import type { Judgement, Lab } from '../../../runs/contract.ts'
import type { CapturedSide } from '../sides.ts'
import type { OtherVerdicts } from './other-references.ts'

/** Flag: a function is as inexact as its language allows, or the language promises nothing where it was used. */
export const PROMISED = 'promised'
export const UNPROMISED = 'unpromised'

/** The target compared with the reference, which runs with the target's own functions. */
export interface Explanation {
  readonly comparison: TraceComparison
  /** Each of these functions is within what its language promises, and that is known. */
  readonly isPromised: boolean
  /** Those that are over the usual limits, by op. */
  readonly ops: string
}

/** How far roundings move the reference, by output. */
export interface MeasuredBand {
  readonly bands: readonly SensitivityBand[]
  /** Disturbances that could not be run; without them the band is narrower and excuses less. */
  readonly problems: readonly string[]
}

/** Further facts about a deviation. */
export interface DeviationFacts {
  readonly band: MeasuredBand | null
  /** Roundings move the reference as far. */
  readonly excused: boolean
  /** Its functions are as inexact as their language says, and that explains all of it. */
  readonly explained: Explanation | null
  /** Earlier work in the same worker changes the target's numbers. */
  readonly unstable: boolean
  /** More to say about a failure. */
  readonly hint: string | null
  /** How inputs were found, if a search was needed. */
  readonly note?: string | null
  /** Inputs were found by trying. */
  readonly found?: boolean
  /** What further references say; null: there are none. */
  readonly others: OtherVerdicts | null
}

export const REFERENCES_DISAGREE = 'references-disagree'

interface Judged {
  readonly comparison: TraceComparison
  readonly reference: CapturedSide
  readonly target: CapturedSide
  readonly facts: DeviationFacts
  /** What was chosen, for the record. */
  readonly measurements: Readonly<Record<string, string | number>>
}

export function buildJudgement(judged: Judged): Judgement {
  const { comparison, reference, target, facts } = judged
  const { band, excused, explained, unstable, others } = facts
  const reason = [reasonOf(comparison, facts, target.warnings), facts.note].filter(Boolean).join('; ')
  return {
    verdict: verdictOf(comparison, facts, target),
    ...(reason !== '' && { reason }),
    flags: [
      ...comparison.flags,
      ...(facts.found ? [INPUTS_FOUND] : []),
      ...(excused ? ['sensitive'] : []),
      ...(explained ? [explained.isPromised ? PROMISED : UNPROMISED] : []),
      ...(others?.disagreement ? [REFERENCES_DISAGREE] : []),
      ...(others?.silent ? ['one-reference'] : []),
      ...(unstable ? ['unstable'] : []),
      ...(target.warnings.length > 0 ? ['warned'] : []),
      ...(reference.retried || target.retried ? ['retried'] : []),
    ],
    coverage: comparison.coverage,
    metrics: comparison.metrics,
    outputs: comparison.outputs,
    worst: comparison.worst,
    ...(band ? { band: band.bands } : {}),
    measurements: {
      ...judged.measurements,
      ...prefixed('reference', reference.detail),
      ...others?.detail,
      ...prefixed('target', target.detail),
      ...(target.warnings.length > 0 && { 'target.warnings': target.warnings.join('\n') }),
      ...(band && band.problems.length > 0 && { 'sensitivity.not_measured': band.problems.join('; ') }),
    },
  }
}

/** Numbers that agree although the device refused part of the work prove nothing. */
function verdictOf(
  comparison: TraceComparison,
  { excused, explained, others }: DeviationFacts,
  { warnings }: CapturedSide,
): Verdict {
  const verdict = explained ? (explained.isPromised ? 'pass' : 'inconclusive') : comparison.verdict
  const isDoubtful = excused || others?.excuses || (verdict === 'pass' && warnings.length > 0)
  return isDoubtful ? 'inconclusive' : verdict
}

function reasonOf(
  { verdict, reason }: TraceComparison,
  { excused, explained, unstable, hint, others }: DeviationFacts,
  warnings: readonly string[],
): string | undefined {
  if (others?.disagreement) return referencesReason(verdict, reason, others)
  if (warnings.length > 0) return `${reason ?? 'the numbers agree'}; the target's device warned: ${warnings[0]}`
  if (unstable) return `${reason}; it passes alone in a fresh worker, so earlier work changes the target's numbers`
  if (explained) return `${reason}; ${explainedBy(explained)}`
  if (excused) return `over tolerance, but rounding errors move the reference as far: ${reason}`
  return verdict === 'fail' && hint !== null ? `${reason}; ${hint}` : reason
}

function explainedBy({ ops, isPromised }: Explanation): string {
  const same = `the reference gives the same with the target's own ${ops}`
  return isPromised
    ? `but ${same}, and each of them is within what its language promises`
    : `but ${same}, and its language promises nothing for some of them`
}

function referencesReason(verdict: Verdict, reason: string | undefined, others: OtherVerdicts): string {
  const apart = `the references disagree, ${others.disagreement}`
  if (verdict === 'pass') return `${apart}; the target agrees with the first`
  return others.excuses ? `${apart}; the target against the first: ${reason}` : `${reason}; ${apart}, but by less`
}

function prefixed(side: Side, detail: Readonly<Record<string, string | number>>): Record<string, string | number> {
  return Object.fromEntries(Object.entries(detail).map(([key, value]) => [`${side}.${key}`, value]))
}

/** The tensors of a case that did not pass stay with the run. */
export async function keepTraces(
  lab: Lab,
  inputs: string | null,
  reference: CapturedSide,
  target: CapturedSide,
  others: OtherVerdicts | null,
): Promise<void> {
  for (const [name, path] of others?.traces ?? []) await lab.keep(name, path)
  if (inputs) await lab.keep('inputs.safetensors', inputs)
  if (reference.path) await lab.keep('reference.safetensors', reference.path)
  if (target.path) await lab.keep('target.safetensors', target.path)
}
