import type { CaseNote, CaseNotes } from '../domain/case-notes.ts'
import { cleanProse, cleanText, shortenMiddle, wrapText } from '../domain/text.ts'
import type { Style } from './style.ts'

/** Of so many cases the notes are printed; the index has all. */
const CASES_SHOWN = 20

/** What there is to say about cases besides their verdicts: those in which something happened first. */
export function caseNotesLines({ title, index, cases, notices }: CaseNotes, style: Style): string[] {
  const notable = cases.filter(({ isNotable }) => isNotable)
  const shown = (notable.length > 0 ? notable : cases.slice(0, 1)).slice(0, CASES_SHOWN)
  const rest = cases.length - shown.length
  const what = shown.length < notable.length ? '' : ' in which nothing changed'
  return [
    '',
    ...wrapText(cleanText(title), style.columns),
    ...shown.flatMap((c) => caseLines(c, style)),
    ...(rest > 0 ? wrapText(`… and ${rest} more${what}, see ${cleanText(index)}`, style.columns) : []),
    ...notices.flatMap((notice) => wrapText(cleanProse(notice), style.columns)),
  ]
}

function caseLines({ id, lines }: CaseNote, style: Style): string[] {
  const wrapped = lines.flatMap((line) => wrapText(cleanProse(line), style.columns - 4))
  return [`  ${shortenMiddle(cleanText(id), style.columns - 2)}`, ...wrapped.map((line) => `    ${line}`)]
}
