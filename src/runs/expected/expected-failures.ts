import {
  describeExpected,
  describeOutcome,
  type Expectation,
  type ExpectedFailure,
  type StaleEntry,
} from '../../domain/expected-failure.ts'
import type { OutputResult, Result } from '../../domain/result.ts'
import { formatNumber } from '../../domain/text.ts'
import { compileGlob, isGlob } from '../../files/disk/glob.ts'
import { containsWords } from '../execute/stable-words.ts'

/** The flag of a skipped case that an entry expects to fail. */
const SKIPPED_FLAG = 'expected-failure'

/** What is expected of a run. */
export interface ExpectedOutcomes {
  readonly entries: readonly ExpectedFailure[]
  /** `2027-03-01`, in UTC. */
  readonly today: string
  /** Not all cases there are were collected, so an entry that matches none may match another. */
  readonly partial?: boolean
}

/** The entries seen together with all cases of a plan. */
export interface Expectations {
  /** Entries that match no case. */
  readonly stale: readonly StaleEntry[]
  /** Whether an entry may excuse this case. */
  mayExcuse(id: string): boolean
  /** The result in the light of its entry; to be asked when nobody else has a say in it any more. */
  apply(result: Result): Result
}

/** `ids`: every case there is, whether or not it was selected. */
export function expectationsFor(
  { entries, today, partial = false }: ExpectedOutcomes,
  ids: readonly string[],
): Expectations {
  const { entryOf, stale } = matchEntries(entries, ids)
  return {
    stale: partial ? [] : stale,
    mayExcuse: (id) => {
      const entry = entryOf.get(id)
      return entry !== undefined && !isExpired(entry, today)
    },
    apply: (result) => {
      const entry = entryOf.get(result.id)
      return entry ? applyEntry(result, entry, today) : result
    },
  }
}

/** The entry of each case: the one that is its very id, else the last glob that matches. */
export function matchEntries(
  entries: readonly ExpectedFailure[],
  ids: readonly string[],
): { readonly entryOf: ReadonlyMap<string, ExpectedFailure>; readonly stale: readonly StaleEntry[] } {
  const known = new Set(ids)
  const entryOf = new Map<string, ExpectedFailure>()
  const stale: StaleEntry[] = []
  for (const entry of entries) {
    if (known.has(entry.id)) continue
    const matching = idsOfGlob(entry.id, ids)
    for (const id of matching) entryOf.set(id, entry)
    if (matching.length === 0) stale.push({ id: entry.id, place: entry.place })
  }
  for (const entry of entries) if (known.has(entry.id)) entryOf.set(entry.id, entry)
  return { entryOf, stale }
}

/** Brackets stand for themselves, because ids have them: `full_model[batch=2]`. */
function idsOfGlob(pattern: string, ids: readonly string[]): string[] {
  if (!isGlob(pattern.replaceAll('[', ''))) return []
  const glob = compileGlob(pattern.replaceAll('[', '[[]'))
  return ids.filter((id) => glob.test(id))
}

function isExpired({ expires }: ExpectedFailure, today: string): boolean {
  return expires !== undefined && today >= expires
}

function applyEntry(result: Result, entry: ExpectedFailure, today: string): Result {
  const { verdict, reason } = result
  if (verdict === 'captured') return result
  const found = { verdict, ...(reason !== undefined && { reason }) }
  const seen = (outcome: Expectation['outcome'], more: Partial<Result>): Result => {
    return { ...result, ...more, expected: { entry, outcome, found } }
  }
  if (verdict === 'skip') return seen('skipped', { flags: [...result.flags, SKIPPED_FLAG] })
  if (isExpired(entry, today)) {
    return seen('expired', { reason: joined(`the expectation expired on ${entry.expires} (${entry.place})`, reason) })
  }
  if (verdict === 'pass') return seen('passed', { verdict: 'xpass', reason: joined(passedText(entry, result), reason) })
  const difference = differenceOf(result, entry)
  if (difference === null) return seen('met', { verdict: 'xfail' })
  return seen('differs', { reason: joined(difference, reason) })
}

function joined(text: string, reason: string | undefined): string {
  return reason === undefined ? text : `${text}; ${reason}`
}

function passedText(entry: ExpectedFailure, { id }: Result): string {
  const what =
    entry.id === id
      ? `remove the entry ${entry.place}`
      : `narrow or remove the entry ${entry.place} (${JSON.stringify(entry.id)})`
  return `expected ${describeExpected(entry)}, but it passes: ${what}`
}

/** How a result that did not pass differs from what its entry says; null: not at all. */
function differenceOf(result: Result, entry: ExpectedFailure): string | null {
  const stage = result.verdict === 'inconclusive' ? undefined : (result.error?.stage ?? 'compare')
  const side = result.error?.side
  const isAlike =
    result.verdict === entry.verdict &&
    (entry.stage === undefined || entry.stage === stage) &&
    (entry.side === undefined || entry.side === side)
  const otherwise = isAlike ? (hasWords(result, entry) ? sizeDifference(result, entry) : ', in other words') : ''
  if (otherwise === null) return null
  const found = `${describeOutcome(result.verdict, stage, side)}${otherwise}`
  return `expected: ${describeExpected(entry)}; found: ${found} (${entry.place})`
}

/** Every output that fails has to be within; one that has no size, such as one of another shape, is not. */
function sizeDifference({ outputs }: Result, { relL2 }: ExpectedFailure): string | null {
  if (relL2 === undefined) return null
  const sizes = outputs.filter(({ verdict }) => verdict === 'fail').map(failureSize)
  const worst = sizes.length === 0 ? Number.NaN : sizes.find((size) => !(size <= relL2))
  if (worst === undefined) return null
  return Number.isNaN(worst) ? ', of no size that could be measured' : `, relL2 ${formatNumber(worst)}`
}

/** relL2 of an output; NaN where it was not measured or says little, because values are not finite on one side. */
export function failureSize({ metrics }: OutputResult): number {
  const measured = (name: string) => metrics.find((metric) => metric.name === name)?.value
  return (measured('nonfinite_mismatch') ?? 0) === 0 ? (measured('rel_l2') ?? Number.NaN) : Number.NaN
}

function hasWords({ error, reason }: Result, { error: words }: ExpectedFailure): boolean {
  if (words === undefined) return true
  return [error?.message, reason].some((text) => text !== undefined && containsWords(text, words))
}

/** The result as it was before its entry had a say. */
export function withoutExpectation(result: Result): Result {
  if (!result.expected) return result
  const { expected, reason: _reason, ...rest } = result
  return { ...rest, flags: result.flags.filter((flag) => flag !== SKIPPED_FLAG), ...expected.found }
}
