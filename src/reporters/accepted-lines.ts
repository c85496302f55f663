import { describeExpected, type NewEntry } from '../domain/expected-failure.ts'
import type { Result } from '../domain/result.ts'
import { cleanProse, cleanText } from '../domain/text.ts'
import { whyText } from './explain.ts'

/** What `--accept` wrote, and what it could not. */
export interface Accepted {
  readonly file: string
  readonly added: readonly NewEntry[]
  readonly updated: readonly NewEntry[]
  readonly removed: readonly string[]
  /** Results that still fail the run, with the entries as they are now. */
  readonly left: readonly Result[]
  /** Why nothing was written, or why what was written is not all. */
  readonly problem?: string
}

const SHOWN = 20

/** What `--accept` wrote: `+` new, `~` changed, `-` removed; then what still fails. */
export function acceptedLines(accepted: Accepted): string[] {
  const { added, updated, removed } = accepted
  const written = [
    ...added.map((entry) => entryLine('+', entry)),
    ...updated.map((entry) => entryLine('~', entry)),
    ...removed.map((id) => `  - ${cleanText(id)}  passes now`),
  ]
  const head = written.length === 0 && accepted.problem !== undefined ? [] : [headLine(accepted)]
  return [
    ...head,
    ...shortList(written),
    ...shortList(accepted.left.map(leftLine)),
    ...(accepted.problem === undefined ? [] : [cleanProse(accepted.problem)]),
  ]
}

function headLine({ added, updated, removed, file }: Accepted): string {
  const count = added.length + updated.length
  const name = cleanText(file)
  if (count + removed.length === 0) return `nothing to accept: ${name} stays as it is`
  const parts = [count > 0 && `accepted ${count}`, removed.length > 0 && `removed ${removed.length}`].filter(Boolean)
  return `${parts.join(', ')} in ${name}:`
}

function entryLine(sign: string, { id, ...rest }: NewEntry): string {
  const notes = [rest.issue, rest.expires && `until ${rest.expires}`].filter(Boolean).join(', ')
  const text = `${describeExpected({ id, ...rest })}${notes === '' ? '' : ` (${notes})`}`
  return `  ${sign} ${cleanText(id)}  ${cleanProse(text)}`
}

function leftLine(result: Result): string {
  return `  not accepted: ${cleanText(result.id)}  ${result.verdict}: ${whyText(result)}`
}

function shortList(lines: readonly string[]): string[] {
  const more = lines.length - SHOWN
  return more > 0 ? [...lines.slice(0, SHOWN), `  … and ${more} more`] : [...lines]
}
