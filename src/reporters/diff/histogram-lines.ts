import type { ErrorBin, ErrorHistogram } from '../../compare/diff/error-histogram.ts'
import { formatLimit } from '../../compare/rules/rule-text.ts'
import { tableLines } from '../../domain/table.ts'
import { formatNumber } from '../../domain/text.ts'
import type { Style } from '../style.ts'

const MOST_ROWS = 12
const BAR_COLUMNS = 24
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉']

/** What the rows are, with the limits at their smallest and at their largest. */
export function histogramTitle(limits: Limits | null): string {
  if (limits === null) return 'errors |t − r|'
  const least = formatNumber(limits.least, 3)
  if (limits.least === limits.most) return `errors |t − r|, limit ${least}`
  return `errors |t − r|, limit ${least} to ${formatNumber(limits.most, 3)}, the larger the larger |r| is`
}

interface Limits {
  readonly least: number
  readonly most: number
}

/** How many errors are how large: a row per decade or half decade, with the limits marked. */
export function histogramLines({ zero, bins }: ErrorHistogram, limits: Limits | null, style: Style): string[] {
  if (bins.length === 0) return []
  const rows = [{ label: '0', from: -1, to: 0, count: zero }, ...fewer(bins).map(labelled)]
  const most = Math.max(...rows.map(({ count }) => count))
  const cells = rows.map((row) => {
    const mark = limits && meets(row, limits) ? `  ${style.paint('yellow', '◂ limit')}` : ''
    return [row.label, String(row.count), `${barOf(row.count / most, style)}${mark}`]
  })
  const lines = tableLines(cells, { columns: [{ align: 'right' }, { align: 'right' }, {}] })
  return lines.map((line) => `  ${line}`)
}

function labelled(bin: ErrorBin): ErrorBin & { label: string } {
  return { ...bin, label: `${shortNumber(bin.from)} – ${shortNumber(bin.to)}` }
}

function shortNumber(value: number): string {
  return Number.isFinite(value) && (value >= 1e4 || value < 0.01) && value > 0
    ? formatLimit(Number(value.toPrecision(2)))
    : formatNumber(value, 2)
}

/** The row that the smallest limit lies in. */
function meets({ from, to }: ErrorBin, { least }: Limits): boolean {
  return least === 0 ? from === -1 : from <= least && least < to
}

/** Half decades where there are few, whole decades otherwise; the smallest of too many together. */
function fewer(bins: readonly ErrorBin[]): ErrorBin[] {
  const rows = bins.length <= MOST_ROWS ? [...bins] : decades(bins)
  if (rows.length <= MOST_ROWS) return rows
  const small = rows.slice(0, rows.length - MOST_ROWS + 1)
  return [joined(small), ...rows.slice(small.length)]
}

function decades(bins: readonly ErrorBin[]): ErrorBin[] {
  const rows: ErrorBin[] = []
  for (const bin of bins) {
    const last = rows.at(-1)
    if (last && decadeOf(last) === decadeOf(bin)) rows[rows.length - 1] = joined([last, bin])
    else rows.push(bin)
  }
  return rows
}

/** The middle of a half decade is never near the edge of a decade. */
function decadeOf({ from }: ErrorBin): number {
  return Math.floor(Math.log10(from) + 0.25)
}

function joined(bins: readonly ErrorBin[]): ErrorBin {
  return { from: bins[0]!.from, to: bins.at(-1)!.to, count: bins.reduce((sum, { count }) => sum + count, 0) }
}

/** Whatever there is shows, however little it is. */
function barOf(part: number, { ascii }: Style): string {
  if (ascii) return '#'.repeat(Math.ceil(part * BAR_COLUMNS))
  const eighths = Math.ceil(part * BAR_COLUMNS * 8)
  return '█'.repeat(Math.floor(eighths / 8)) + EIGHTHS[eighths % 8]!
}
