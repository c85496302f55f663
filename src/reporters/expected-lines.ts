import { daysBetween, describeExpected, describeOutcome, type Expectation } from '../domain/expected-failure.ts'
import type { Result } from '../domain/result.ts'
import type { RunHeader } from '../domain/run.ts'
import { cleanProse, cleanText, displayWidth, shortenEnd, shortenMiddle, wrapText } from '../domain/text.ts'
import { paintVerdict, type Style } from './style.ts'

const SHOWN = 10
const SOON_DAYS = 14

type Expected = Result & { readonly expected: Expectation }

/** How many cases fail as expected, which excuse ends soon, and a line for each. */
export function expectedLines(run: RunHeader, results: readonly Result[], style: Style): string[] {
  const met = results.filter((result): result is Expected => result.expected?.outcome === 'met')
  if (met.length === 0) return []
  const lines = met.slice(0, SHOWN).map((result) => expectedLine(result, style))
  const more = met.length - lines.length
  const head = shortenEnd(
    `expected failures: ${met.length}${expiryText(met, run.startedAt.slice(0, 10))}`,
    style.columns,
  )
  return [head, ...lines, ...(more > 0 ? [`  … and ${more} more (-v shows them)`] : [])]
}

/** ` (2 expire soon, the first in 5 days: id)` */
function expiryText(met: readonly Expected[], today: string): string {
  const ending = met.flatMap(({ id, expected: { entry } }) => {
    return entry.expires === undefined ? [] : [{ id, days: daysBetween(today, entry.expires) }]
  })
  const soon = ending.filter(({ days }) => days <= SOON_DAYS).sort((a, b) => a.days - b.days)
  const [first] = soon
  if (!first) return ''
  const when = `in ${first.days} ${first.days === 1 ? 'day' : 'days'}: ${cleanText(first.id)}`
  return soon.length === 1 ? ` (1 expires ${when})` : ` (${soon.length} expire soon, the first ${when})`
}

/** `  x vad/full_model@webgpu  error at compile  assay.expected.yaml:3` */
function expectedLine({ id, expected: { entry } }: Expected, style: Style): string {
  const what = entry.issue ?? describeOutcome(entry.verdict, entry.stage, entry.side)
  const tail = `  ${cleanText(what, 60)}  ${cleanText(entry.place, 60)}`
  const room = style.columns - displayWidth(tail) - 4
  const name = shortenMiddle(cleanText(id), Math.max(room, 20))
  return `  ${paintVerdict(style, 'xfail', style.symbol('xfail'))} ${name}${shortenEnd(tail, style.columns - displayWidth(name) - 4)}`
}

/** Expired entries whose cases pass: nothing else would remind anybody of them. */
export function expiredLines(results: readonly Result[], style: Style): string[] {
  const passing = results.filter(({ verdict, expected }) => verdict === 'pass' && expected?.outcome === 'expired')
  const places = [...new Set(passing.map(({ expected }) => cleanText(expected!.entry.place, 60)))]
  if (places.length === 0) return []
  const more = places.length - SHOWN
  const shown = `${places.slice(0, SHOWN).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
  return wrapText(`expired entries whose cases pass; remove them: ${shown}`, style.columns)
}

/** Entries that match no case of the whole plan. */
export function staleLines(run: RunHeader, style: Style): string[] {
  const stale = run.summary?.stale ?? []
  if (stale.length === 0) return []
  const lines = stale.slice(0, SHOWN).map(({ id, place }) => {
    const head = `  ${cleanText(place, Math.min(60, Math.floor(style.columns / 2)))}  `
    return `${head}${shortenMiddle(cleanText(id), Math.max(style.columns - displayWidth(head), 20))}`
  })
  const more = stale.length - lines.length
  const text = shortenEnd(`stale entries: ${staleText(stale.length)}`, style.columns)
  return [style.paint('yellow', text), ...lines, ...(more > 0 ? [`  … and ${more} more in the record`] : [])]
}

/** `2 match no case of the whole plan; mend or remove them` */
export function staleText(count: number): string {
  return `${count} ${count === 1 ? 'matches' : 'match'} no case of the whole plan; mend or remove ${count === 1 ? 'it' : 'them'}`
}

/** What a case's entry says, with its link and its end. */
export function entryText({ entry }: Expectation): string {
  const notes = [entry.place, entry.issue, entry.expires && `expires ${entry.expires}`].filter((note) => note)
  return cleanProse(`${describeExpected(entry)} (${notes.join(', ')})`)
}
