import type { TraceComparison } from '../../compare/contract.ts'
import { INPUTS_FOUND } from '../../domain/result.ts'
import type { Side, Verdict } from '../../domain/verdict.ts'
import type { Judgement, Lab } from '../../runs/contract.ts'
import type { Explanation } from './explained.ts'
import type { Consultation } from './other-references.ts'
import { PROMISED, UNPROMISED } from './promised.ts'
import type { MeasuredBand } from './sensitivity.ts'
import type { Given } from './sides.ts'

/** What was found out about a deviation besides its size. */
interface Doubts {
  readonly band: MeasuredBand | null
  /** Roundings move the reference as far. */
  readonly excused: boolean
  /** Its functions are as inexact as their language says, and that explains all of it. */
  readonly explained: Explanation | null
  /** What ran before changes the target's numbers. */
  readonly unstable: boolean
  /** More to say about a failure. */
  readonly hint: string | null
  /** What had to be found out to judge at all. */
  readonly note?: string | null
  /** Inputs were found by trying. */
  readonly found?: boolean
  /** What further references say; null: there are none. */
  readonly others: Consultation | null
}

export const REFERENCES_DISAGREE = 'references-disagree'

interface Judged {
  readonly comparison: TraceComparison
  readonly reference: Given
  readonly target: Given
  readonly doubts: Doubts
  /** What was chosen, for the record. */
  readonly measurements: Readonly<Record<string, string | number>>
  readonly reproduce: string
}

export function judgementOf(judged: Judged): Judgement {
  const { comparison, reference, target, doubts } = judged
  const { band, excused, explained, unstable, others } = doubts
  const reason = [reasonOf(comparison, doubts, target.warnings), doubts.note].filter(Boolean).join('; ')
  return {
    verdict: verdictOf(comparison, doubts, target),
    ...(reason !== '' && { reason }),
    flags: [
      ...comparison.flags,
      ...(doubts.found ? [INPUTS_FOUND] : []),
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
    reproduce: judged.reproduce,
  }
}

/** Numbers that agree although the device refused part of the work prove nothing. */
function verdictOf(comparison: TraceComparison, { excused, explained, others }: Doubts, { warnings }: Given): Verdict {
  const verdict = explained ? (explained.isPromised ? 'pass' : 'inconclusive') : comparison.verdict
  const isDoubtful = excused || others?.excuses || (verdict === 'pass' && warnings.length > 0)
  return isDoubtful ? 'inconclusive' : verdict
}

function reasonOf(
  { verdict, reason }: TraceComparison,
  { excused, explained, unstable, hint, others }: Doubts,
  warnings: readonly string[],
): string | undefined {
  if (others?.disagreement) return referencesReason(verdict, reason, others)
  if (warnings.length > 0) return `${reason ?? 'the numbers agree'}; the target's device warned: ${warnings[0]}`
  if (unstable) return `${reason}; alone in a fresh worker it passes, so what ran before changes the target's numbers`
  if (explained) return `${reason}; ${explainedBy(explained)}`
  if (excused) return `over tolerance, but roundings move the reference as far: ${reason}`
  return verdict === 'fail' && hint !== null ? `${reason}; ${hint}` : reason
}

function explainedBy({ ops, isPromised }: Explanation): string {
  const same = `with the target's own ${ops} the reference gives the same`
  return isPromised
    ? `but ${same}, and each of them is within what its language promises`
    : `but ${same}, and its language promises nothing for some of them`
}

function referencesReason(verdict: Verdict, reason: string | undefined, others: Consultation): string {
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
  reference: Given,
  target: Given,
  others: Consultation | null,
): Promise<void> {
  for (const [name, path] of others?.traces ?? []) await lab.keep(name, path)
  if (inputs) await lab.keep('inputs.safetensors', inputs)
  if (reference.path) await lab.keep('reference.safetensors', reference.path)
  if (target.path) await lab.keep('target.safetensors', target.path)
}
