import type { TraceComparison } from '../../../compare/contract.ts'
import { StageError } from '../../../domain/errors.ts'
import type { Target } from '../../../domain/target.ts'
import type { Judgement, Lab } from '../../../runs/contract.ts'
import type { CapturedSide } from '../sides.ts'
import { buildJudgement, type DeviationFacts } from './judgement.ts'
import { compareOthers, type OtherVerdicts } from './other-references.ts'

/** What a case judges: the same model, layer or folder on the reference and on the target. */
export interface SidePair {
  readonly lab: Pick<Lab, 'keepsAll'>
  readonly otherReferences: readonly Target[]
  /** Runs both sides. */
  capture(): Promise<readonly [reference: CapturedSide, target: CapturedSide]>
  /** The reference without its cached or recorded values; before a deviation counts, it is compared with these too. */
  recapture?(): Promise<CapturedSide>
  captureOther(reference: Target): Promise<CapturedSide>
  /** The target in a fresh worker. */
  captureAlone(): Promise<CapturedSide>
  compare(reference: CapturedSide, target: CapturedSide): Promise<TraceComparison>
  /** Looks for what else is known about a failure. */
  explain?(pair: ComparedPair): Promise<Explained>
  /** Keeps the tensors of a case that did not pass. */
  keep(pair: ComparedPair, others: OtherVerdicts | null): Promise<void>
}

export interface ComparedPair {
  readonly reference: CapturedSide
  readonly target: CapturedSide
  readonly comparison: TraceComparison
}

type Measurements = Readonly<Record<string, string | number>>
type Explained = Partial<DeviationFacts> & { readonly measurements?: Measurements }

/** Runs both sides, compares them, and judges the result with all that is known about a deviation. */
export async function judgePair(pair: SidePair, known: Explained = {}): Promise<Judgement> {
  return judgeCompared(pair, await comparePair(pair), known)
}

export async function comparePair(pair: SidePair): Promise<ComparedPair> {
  const [reference, target] = await pair.capture()
  const comparison = await pair.compare(reference, target)
  if (comparison.verdict === 'pass' || !pair.recapture) return { reference, target, comparison }
  const fresh = await pair.recapture()
  return { reference: fresh, target, comparison: await pair.compare(fresh, target) }
}

export async function judgeCompared(pair: SidePair, compared: ComparedPair, known: Explained = {}): Promise<Judgement> {
  const others = await askOthers(pair, compared)
  const { measurements, ...facts } = await explainFailure(pair, compared)
  const judgement = buildJudgement({
    ...compared,
    facts: { ...NOTHING_KNOWN, ...known, ...facts, others },
    measurements: { ...known.measurements, ...measurements },
  })
  if (judgement.verdict !== 'pass' || pair.lab.keepsAll) await pair.keep(compared, others)
  return judgement
}

/** The judgement of a pair that passes: nothing more is to be asked. */
export function judgePassed({ reference, target, comparison }: ComparedPair, measurements: Measurements): Judgement {
  return buildJudgement({ reference, target, comparison, facts: { ...NOTHING_KNOWN, others: null }, measurements })
}

const NOTHING_KNOWN = { band: null, excused: false, explained: null, unstable: false, hint: null }

async function askOthers(
  pair: SidePair,
  { reference, target, comparison }: ComparedPair,
): Promise<OtherVerdicts | null> {
  if (pair.otherReferences.length === 0) return null
  return compareOthers(pair.otherReferences, {
    first: reference,
    target,
    verdict: comparison,
    run: (other) => pair.captureOther(other),
    compare: (one, two) => pair.compare(one, two),
  })
}

async function explainFailure(pair: SidePair, compared: ComparedPair): Promise<Explained> {
  if (compared.comparison.verdict !== 'fail') return {}
  const found = (await pair.explain?.(compared)) ?? {}
  return found.explained || found.excused ? found : { ...found, unstable: await passesAlone(pair, compared) }
}

/** Whether a target whose sessions share memory gives numbers that pass when nothing ran before. */
async function passesAlone(pair: SidePair, { reference, target }: ComparedPair): Promise<boolean> {
  if (target.alone || !target.info?.capabilities.sharedMemory) return false
  try {
    return (await pair.compare(reference, await pair.captureAlone())).verdict !== 'fail'
  } catch (error) {
    // If it cannot run alone, the numbers that it gave before still count.
    if (error instanceof StageError) return false
    throw error
  }
}
