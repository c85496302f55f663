import type { ExpectedFailure, NewEntry } from '../../domain/expected-failure.ts'
import type { Result } from '../../domain/result.ts'
import { stableWords } from '../execute/stable-words.ts'
import { isFailure } from '../record/summary.ts'
import { failureSize, withoutExpectation } from './expected-failures.ts'

interface AcceptOptions {
  /** Inconclusive cases are accepted too. */
  readonly strict: boolean
  /** For the entries that are written. */
  readonly issue?: string
  readonly expires?: string
  readonly today: string
}

/** What is to be written into the file of expected failures. */
export interface Acceptance {
  /** By id; an entry of the same id is replaced. */
  readonly put: readonly NewEntry[]
  /** Ids whose own entry goes, because they pass. */
  readonly remove: readonly string[]
}

/** Entries for what does not pass now, and the ids that do and had one; what an entry excuses already stays as it is. */
export function acceptFailures(
  results: readonly Result[],
  entries: readonly ExpectedFailure[],
  options: AcceptOptions,
): Acceptance {
  const own = new Map(entries.map((entry) => [entry.id, entry]))
  const failing = results.filter(({ verdict }) => verdict !== 'xpass' && isFailure(verdict, options.strict))
  const passing = results.filter(({ id, expected }) => own.has(id) && expected?.found.verdict === 'pass')
  return {
    put: failing.map((result) => entryFor(withoutExpectation(result), own.get(result.id), options)),
    remove: passing.map(({ id }) => id),
  }
}

function entryFor(result: Result, before: ExpectedFailure | undefined, options: AcceptOptions): NewEntry {
  const { id, error } = result
  const verdict = result.verdict === 'error' || result.verdict === 'inconclusive' ? result.verdict : 'fail'
  const words = wordsOf(result)
  const relL2 = verdict === 'fail' && words === null ? sizeOf(result) : null
  const issue = options.issue ?? before?.issue
  const kept = before?.expires !== undefined && options.today < before.expires ? before.expires : undefined
  const expires = options.expires ?? kept
  return {
    id,
    verdict,
    ...(error && { stage: error.stage, ...(error.side && { side: error.side }) }),
    ...(words !== null && { error: words }),
    ...(relL2 !== null && { relL2 }),
    ...(issue !== undefined && { issue }),
    ...(expires !== undefined && { expires }),
  }
}

/** So much more than now is still what was accepted: other machines and selections round differently. */
const MARGIN = 2

/** The size of a numeric failure, rounded up to one digit; null where it has none. */
function sizeOf({ outputs }: Result): number | null {
  const sizes = outputs.filter(({ verdict }) => verdict === 'fail').map(failureSize)
  const size = MARGIN * Math.max(...sizes)
  if (!(size > 0) || !Number.isFinite(size)) return null
  const digit = 10 ** Math.floor(Math.log10(size))
  return Number((Math.ceil(size / digit) * digit).toPrecision(1))
}

const FORM_FLAGS: readonly string[] = ['shape', 'dtype', 'kind', 'length', 'missing', 'extra', 'non-finite']

/**
 * Of an error its message. Of a failure only what is wrong with an output's form, or that it has NaN: which limit a number
 * breaks, and which layers are named beside it, changes with the selection and from run to run.
 */
function wordsOf({ verdict, error, reason, outputs }: Result): string | null {
  if (error) return stableWords(error.message)
  if (verdict === 'fail') {
    const first = outputs.find((output) => output.verdict === 'fail')
    return first?.reason && first.flags.some((flag) => FORM_FLAGS.includes(flag)) ? stableWords(first.reason) : null
  }
  return reason === undefined ? null : stableWords(reason.split(';')[0]!)
}
