import type { TraceComparison } from '../../../compare/contract.ts'
import { insideBand } from '../../../compare/rules/inside-band.ts'
import { SkipCase, StageError } from '../../../domain/errors.ts'
import type { OutputResult, SensitivityBand } from '../../../domain/result.ts'
import type { Target } from '../../../domain/target.ts'
import type { CapturedSide } from '../sides.ts'

/** What the further references say about a case. */
export interface OtherVerdicts {
  /** Those that differ from the first beyond tolerance, in words; null: none does. */
  readonly disagreement: string | null
  /** Another reference agrees with the target, or the references differ as much as the target does. */
  readonly excuses: boolean
  /** What each of them ran, or why it said nothing. */
  readonly detail: Readonly<Record<string, string | number>>
  /** Some of them said nothing. */
  readonly silent: boolean
  /** Traces of references that differ, by file name. */
  readonly traces: ReadonlyMap<string, string>
}

interface OtherCheck {
  readonly first: CapturedSide
  readonly target: CapturedSide
  readonly verdict: TraceComparison
  readonly run: (reference: Target) => Promise<CapturedSide>
  readonly compare: (reference: CapturedSide, target: CapturedSide) => Promise<TraceComparison>
}

/** Each is compared with the first by the limits of the case. One that cannot run it casts no doubt, and the record says so. */
export async function compareOthers(others: readonly Target[], check: OtherCheck): Promise<OtherVerdicts> {
  const verdicts: OtherVerdict[] = []
  for (const reference of others) verdicts.push(await verdictOf(reference, check))
  const dissenting = verdicts.filter(({ differs }) => differs !== null)
  return {
    disagreement:
      dissenting.length > 0 ? dissenting.map(({ name, differs }) => `${name}: ${differs}`).join('; ') : null,
    excuses: dissenting.some(({ excuses }) => excuses),
    detail: Object.assign({}, ...verdicts.map(({ detail }, i) => numbered(i + FIRST, detail))),
    silent: verdicts.some(({ silent }) => silent),
    traces: new Map(verdicts.flatMap(({ path }, i) => (path ? [[`reference${i + FIRST}.safetensors`, path]] : []))),
  }
}

/** The one that everything is compared with is the first. */
const FIRST = 2

interface OtherVerdict {
  readonly name: string
  readonly differs: string | null
  readonly excuses: boolean
  readonly detail: Readonly<Record<string, string | number>>
  readonly silent: boolean
  /** Its trace, where it differs. */
  readonly path?: string | null
}

async function verdictOf(
  reference: Target,
  { first, target, verdict, run, compare }: OtherCheck,
): Promise<OtherVerdict> {
  const { name } = reference
  try {
    const given = await run(reference)
    const detail = { name, ...given.detail }
    const agreement = await compare(first, given)
    if (agreement.verdict !== 'fail') return { name, differs: null, excuses: false, detail, silent: false }
    const asFar = insideBand(verdict.outputs, agreement.outputs.flatMap(bandOf))
    const excuses = verdict.verdict !== 'fail' || asFar || (await compare(given, target)).verdict !== 'fail'
    return { name, differs: agreement.reason ?? 'it differs', excuses, detail, silent: false, path: given.path }
  } catch (error) {
    if (!couldNotRun(error)) throw error
    return { name, differs: null, excuses: false, detail: { name, not_run: error.message }, silent: true }
  }
}

/** A reference that is not available is an error, as for every named side. */
function couldNotRun(error: unknown): error is SkipCase | StageError {
  return error instanceof SkipCase || (error instanceof StageError && error.stage !== 'discover')
}

/** How far two references lie apart, as a band that a target may lie in. */
function bandOf({ name, metrics }: OutputResult): SensitivityBand[] {
  const value = (metric: string) => metrics.find((found) => found.name === metric)?.value ?? null
  const [relL2, maxAbs] = [value('rel_l2'), value('max_abs')]
  if (relL2 === null || maxAbs === null) return []
  return [{ output: name, relL2, maxAbs, by: 'another reference', samples: 1, margin: 1 }]
}

function numbered(i: number, detail: OtherVerdict['detail']): Record<string, string | number> {
  return Object.fromEntries(Object.entries(detail).map(([key, value]) => [`reference${i}.${key}`, value]))
}
