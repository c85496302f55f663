import { cleanText, formatNumber } from './text.ts'
import type { Side, Stage, Verdict } from './verdict.ts'

/** What a case may be expected to end with. */
export const EXPECTABLE = ['fail', 'error', 'inconclusive'] as const
type ExpectableVerdict = (typeof EXPECTABLE)[number]

/** An entry of the file of expected failures: which cases do not pass, and how. */
export interface ExpectedFailure {
  /** An id, or a glob over ids. */
  readonly id: string
  readonly verdict: ExpectableVerdict
  /** For an error: the stage. */
  readonly stage?: Stage
  readonly side?: Side
  /** Words that the error's message or the reason contains. */
  readonly error?: string
  /** For a failure: it is excused if the worst relL2 is at most this and no NaN or infinity is on one side only. */
  readonly relL2?: number
  readonly issue?: string
  /** `2027-03-01`: the entry excuses nothing from this day on (UTC). */
  readonly expires?: string
  /** `file:line` */
  readonly place: string
}

/** An entry before it has a place in the file. */
export type NewEntry = Omit<ExpectedFailure, 'place'>

/** The effect of an entry on a result; `found` is the result without it. */
export interface Expectation {
  readonly entry: ExpectedFailure
  /** `differs`: it did not pass, but not in the expected way. */
  readonly outcome: 'met' | 'passed' | 'differs' | 'expired' | 'skipped'
  readonly found: { readonly verdict: Verdict; readonly reason?: string }
}

/** An entry that matches no case of the whole plan. */
export type StaleEntry = Pick<ExpectedFailure, 'id' | 'place'>

const DAY_MS = 86_400_000

/** The day of a time, in UTC, as `2027-03-01`. */
export function formatDay(time: Date): string {
  return time.toISOString().slice(0, 10)
}

/** The number of days from `from` to `to`. */
export function daysBetween(from: string, to: string): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS)
}

/** Whether this is a real calendar day. */
function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false
  const time = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(time.getTime()) && formatDay(time) === text
}

/** `error at compile on the target`, `fail at compare` */
export function describeOutcome(verdict: Verdict, stage?: Stage, side?: Side): string {
  const at = stage === undefined ? '' : ` at ${stage}`
  return `${verdict}${at}${side === undefined ? '' : ` on the ${side}`}`
}

/** `error at compile with "not supported"` */
export function describeExpected({ verdict, stage, side, error, relL2 }: NewEntry): string {
  const words = error === undefined ? '' : ` with ${JSON.stringify(error)}`
  const size = relL2 === undefined ? '' : ` up to relL2 ${formatNumber(relL2)}`
  return `${describeOutcome(verdict, stage, side)}${words}${size}`
}

/** The problem with a link; null: none. */
export function issueProblem(issue: string): string | null {
  const isLink = /^https?:\/\/[^\s\p{Cc}]+$/iu.test(issue) && URL.canParse(issue)
  return isLink
    ? null
    : `issue takes a link that begins with https:// or http://, found ${JSON.stringify(cleanText(issue, 80))}`
}

/** The problem with a relL2 limit; null: none. */
export function relL2Problem(text: string): string | null {
  const value = Number(text)
  return value > 0 && Number.isFinite(value)
    ? null
    : `relL2 takes a number above 0, found ${JSON.stringify(cleanText(text, 80))}`
}

/** The problem with a day; null: none. */
export function dayProblem(day: string): string | null {
  return isDay(day) ? null : `expires takes a day such as 2027-03-01, found ${JSON.stringify(cleanText(day, 80))}`
}
