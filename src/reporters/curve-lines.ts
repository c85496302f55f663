import type { Curve } from '../domain/result.ts'
import { FIGURES, tableLines } from '../domain/table.ts'
import { cleanText, displayWidth, formatNumber, formatPair, shortenMiddle } from '../domain/text.ts'
import { paintVerdict, type Style } from './style.ts'

const HEAD = ['metric', 'recorded', 'replayed', 'furthest apart', 'allowed there']
const NAME_WIDTH = 24
const LEAST_NAME_WIDTH = 10
const INDENT = 2
/** Columns that a narrow terminal goes without, the first of them first: the reason says what is allowed, too. */
const DISPENSABLE = [4, 1, 2]
const CURVE_WIDTH = 12
const LEVELS = '▁▂▃▄▅▆▇█'
const ASCII_LEVELS = '_.-=oO#@'

/** A table of curves: how they went when they were recorded and when they were replayed, and where they are furthest apart. */
export function curveLines(curves: readonly Curve[], style: Style): string[] {
  if (curves.length === 0) return []
  const rows = curves.map((curve) => rowOf(curve, style))
  const [head, ...lines] = tableLines(fitted([HEAD, ...rows], style.columns - INDENT), FIGURES)
  return [style.paint('dim', head!), ...lines.map((line, i) => paintLine(line, curves[i]!, style))]
}

/** Without columns that there is no room for, and with names in what is left. */
function fitted(rows: readonly (readonly string[])[], room: number): string[][] {
  const widths = HEAD.map((_, column) => 2 + Math.max(...rows.map((row) => displayWidth(row[column]!))))
  const left = (columns: readonly number[]) => columns.slice(1).reduce((rest, column) => rest - widths[column]!, room)
  let columns = HEAD.map((_, column) => column)
  for (const column of DISPENSABLE)
    if (left(columns) < Math.min(widths[0]! - 2, LEAST_NAME_WIDTH))
      columns = columns.filter((other) => other !== column)
  const nameWidth = Math.max(left(columns), LEAST_NAME_WIDTH)
  return rows.map((row) => columns.map((c) => (c === 0 ? shortenMiddle(row[0]!, nameWidth) : row[c]!)))
}

function paintLine(line: string, { verdict }: Curve, style: Style): string {
  return verdict === 'pass' ? line : paintVerdict(style, verdict, line)
}

function rowOf(curve: Curve, style: Style): string[] {
  const { name, reference, target, furthest } = curve
  const all = [...reference, ...target.flat()].filter((value): value is number => Number.isFinite(value))
  const range = { low: Math.min(...all), high: Math.max(...all) }
  return [
    shortenMiddle(cleanText(name, 200), NAME_WIDTH),
    drawn(reference, range, style),
    drawn(target[furthest?.replay ?? 0] ?? [], range, style),
    ...furthestApart(curve),
  ]
}

interface Range {
  readonly low: number
  readonly high: number
}

/** A letter for each step, or for every few; × is not finite, a blank was not logged. */
function drawn(values: readonly (number | null)[], { low, high }: Range, { ascii }: Style): string {
  const levels = [...(ascii ? ASCII_LEVELS : LEVELS)]
  const width = Math.min(values.length, CURVE_WIDTH)
  return Array.from({ length: width }, (_, i) => {
    const value = values[width < 2 ? 0 : Math.round((i * (values.length - 1)) / (width - 1))]
    if (value === null || value === undefined) return ' '
    if (!Number.isFinite(value)) return '×'
    const height = high > low ? (value - low) / (high - low) : 0.5
    return levels[Math.round(height * (levels.length - 1))]!
  }).join('')
}

/** By how much, and what is allowed there. */
function furthestApart({ steps, reference, target, low, high, furthest, replays }: Curve): [string, string] {
  if (!furthest) return ['not logged', '']
  const i = steps.indexOf(furthest.step)
  const by = (target[furthest.replay]?.[i] ?? Number.NaN) - reference[i]!
  const name = by === 0 ? undefined : replays?.[furthest.replay]
  const place = name === undefined ? '' : `, ${cleanText(name, 40)}`
  return [`${differenceText(by, reference[i]!, furthest.step)}${place}`, limitText(low[i], high[i])]
}

function differenceText(by: number, reference: number, step: number): string {
  if (by === 0) return 'equal'
  if (!Number.isFinite(by)) return `not finite at ${step}`
  const sign = by > 0 ? '+' : '−'
  if (reference === 0) return `${sign}${formatNumber(Math.abs(by))} at ${step}`
  return `${sign}${formatNumber(Math.abs(by / reference) * 100)} % at ${step}`
}

function limitText(low: number | null | undefined, high: number | null | undefined): string {
  const [least, most] = [low ?? null, high ?? null]
  if (least !== null && most !== null) {
    const [from, to] = formatPair(least, most)
    return least === most ? to : `${from} to ${to}`
  }
  if (most !== null) return `≤ ${formatNumber(most)}`
  return least === null ? '' : `≥ ${formatNumber(least)}`
}
