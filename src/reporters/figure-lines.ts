import type { FigureTable, Result } from '../domain/result.ts'
import { tableLines } from '../domain/table.ts'
import { cleanProse, cleanText, shortenMiddle, wrapText } from '../domain/text.ts'
import { curveLines } from './curve-lines.ts'
import { paintVerdict, type Style } from './style.ts'

/** What is told of cases whatever their verdict is, below the name of each. */
export function figureLines(results: readonly Result[], style: Style): string[] {
  return results.flatMap(({ id, verdict, figures = [], table, curves = [] }) => {
    if (figures.length + curves.length === 0 && !table) return []
    const texts = figures.flatMap((figure) => wrapText(cleanProse(figure), style.columns - 2))
    const lines = [...curveLines(curves, style), ...(table ? figureTable(table, style) : []), ...texts]
    return [
      `${paintVerdict(style, verdict, style.symbol(verdict))} ${cleanText(id)}`,
      ...lines.map((line) => `  ${line}`),
    ]
  })
}

const NAME_PART = 0.5

/** What follows the figures is a remark. */
export function figureTable({ head, rows }: FigureTable, style: Style): string[] {
  const widest = Math.floor(style.columns * NAME_PART)
  const cleaned = [head, ...rows].map(([name = '', ...cells]) => {
    return [shortenMiddle(cleanText(name), widest), ...cells.map((cell) => cleanText(cell))]
  })
  const columns = head.map((_, i) => (i > 0 && i < head.length - 1 ? { align: 'right' as const } : {}))
  const [title = '', ...lines] = tableLines(cleaned, { columns, room: style.columns - 2 })
  return [style.paint('dim', title), ...lines]
}
