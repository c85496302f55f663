import { shellWord } from '../../domain/shell.ts'
import { tableLines } from '../../domain/table.ts'
import { cleanProse, cleanText, displayWidth, formatNumber, shortenEnd, shortenMiddle } from '../../domain/text.ts'
import { countVerdicts } from '../../domain/verdict.ts'
import type { MovedMetric, RunsDiff, Transition } from '../../runs/record/diff-runs.ts'
import type { StoredRun } from '../../runs/record/read-run.ts'
import { paintLabel } from '../case-block.ts'
import { countsText } from '../explain.ts'
import { paintVerdict, type Style } from '../style.ts'

const SHOWN = 12
const REASON_COLUMNS = 30

/** Two runs side by side: verdicts that changed, numbers that moved, cases that only one has. */
export function runsLines(
  runs: readonly [StoredRun, StoredRun],
  diff: RunsDiff,
  style: Style,
  verbose: boolean,
): string[] {
  const limit = verbose ? Number.POSITIVE_INFINITY : SHOWN
  const section = (title: string, lines: readonly string[]) => {
    const more = lines.length > limit ? [style.paint('dim', `  … ${lines.length - limit} more (-v shows them)`)] : []
    return lines.length === 0 ? [] : ['', style.paint('bold', title), ...lines.slice(0, limit), ...more]
  }
  return [
    ...runs.map((run, i) => runLine(run, i === 0 ? 'reference' : 'target', style)),
    ...section('changed verdict', transitionLines(diff.transitions, style)),
    ...section(
      'moved relL2',
      diff.moved.map((moved) => movedLine(moved, style)),
    ),
    ...section(
      'only in the first run',
      diff.onlyInFirst.map((id) => idLine(id, style)),
    ),
    ...section(
      'only in the second run',
      diff.onlyInSecond.map((id) => idLine(id, style)),
    ),
    '',
    summaryLine(diff),
    ...lookLines(runs, diff, style),
  ]
}

function runLine({ header, results, why }: StoredRun, side: string, style: Style): string {
  const counts = countsText(countVerdicts(results.map(({ verdict }) => verdict)))
  const note = why ? `; incomplete: ${cleanProse(why)}` : ''
  return `${paintLabel(style, side)}${header.id}  ${header.startedAt}  ${counts}${note}`
}

function transitionLines(transitions: readonly Transition[], style: Style): string[] {
  const rows = transitions.map((transition) => transitionCells(transition, style))
  return tableLines(rows, { columns: [{ width: 15 }] }).map((line) => `  ${line}`)
}

function transitionCells({ id, from, to, reason, relL2 }: Transition, style: Style): [string, string] {
  const change = `${paintVerdict(style, from, from)} → ${paintVerdict(style, to, to)}`
  const [before, after] = relL2
  const numbers = before !== null && after !== null ? `relL2 ${formatNumber(before)} → ${formatNumber(after)}` : ''
  const why = numbers === '' && reason ? shortenEnd(cleanProse(reason), REASON_COLUMNS) : numbers
  return [change, `${fitted(id, style, 21 + displayWidth(why))}${why && `  ${why}`}`]
}

function movedLine({ id, verdict, from, to }: MovedMetric, style: Style): string {
  const numbers = `${formatNumber(from)} → ${formatNumber(to)}`
  const head = paintVerdict(style, verdict, style.symbol(verdict))
  return `  ${head}  ${fitted(id, style, 7 + displayWidth(numbers))}  ${numbers}`
}

function idLine(id: string, style: Style): string {
  return `  ${fitted(id, style, 2)}`
}

function fitted(id: string, style: Style, used: number): string {
  return shortenMiddle(cleanText(id), Math.max(20, style.columns - used))
}

function summaryLine({ transitions, same, moved }: RunsDiff): string {
  const cases = (count: number) => `${count} ${count === 1 ? 'case' : 'cases'}`
  const still = moved.length > 0 ? `, ${moved.length} of them with another relL2` : ''
  return `${cases(transitions.length)} with another verdict, ${cases(same)} with the same${still}`
}

function lookLines([first, second]: readonly [StoredRun, StoredRun], { kept }: RunsDiff, style: Style): string[] {
  const id = kept[0]
  if (id === undefined) return []
  const command = `assay diff ${first.header.id} ${second.header.id} --case ${shellWord(id)}`
  return [`${paintLabel(style, 'look')}${command}`]
}
