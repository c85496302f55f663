import { cleanProse, cleanText, shortenMiddle, wrapText } from '../domain/text.ts'
import type { Style } from './style.ts'

/** Of so many cases the summary is printed; the index has all. */
const CASES_SHOWN = 20

interface DumpedCase {
  readonly id: string
  readonly lines: readonly string[]
  readonly isNotable: boolean
}

interface DumpSummary {
  readonly folder: string
  readonly cases: readonly DumpedCase[]
  readonly notices: Iterable<string>
}

/** Where the intermediate forms were written, and of each case in which something changed, at which form. */
export function formsLines({ folder, cases, notices }: DumpSummary, style: Style): string[] {
  const place = cleanText(folder)
  const notable = cases.filter(({ isNotable }) => isNotable)
  const shown = (notable.length > 0 ? notable : cases.slice(0, 1)).slice(0, CASES_SHOWN)
  const rest = cases.length - shown.length
  const what = shown.length < notable.length ? '' : ' in which nothing changed'
  return [
    '',
    ...wrapText(
      `intermediate forms of ${cases.length} ${cases.length === 1 ? 'case' : 'cases'}: ${place}`,
      style.columns,
    ),
    ...shown.flatMap((c) => caseLines(c, style)),
    ...(rest > 0 ? wrapText(`… and ${rest} more${what}, see ${place}/index.txt`, style.columns) : []),
    ...[...notices].flatMap((notice) => wrapText(cleanProse(notice), style.columns)),
  ]
}

function caseLines({ id, lines }: DumpedCase, style: Style): string[] {
  const wrapped = lines.flatMap((line) => wrapText(cleanProse(line), style.columns - 4))
  return [`  ${shortenMiddle(cleanText(id), style.columns - 2)}`, ...wrapped.map((line) => `    ${line}`)]
}
