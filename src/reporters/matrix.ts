import type { Result } from '../domain/result.ts'
import { tableLines } from '../domain/table.ts'
import { cleanText, displayWidth, shortenMiddle, wrapText } from '../domain/text.ts'
import { type Verdict, worstVerdict } from '../domain/verdict.ts'
import { paintVerdict, type Style, symbolLegend } from './style.ts'

const ROWS_SHOWN = 40
const MODEL_WIDTH = 48

/** Model × target, each cell the worst verdict and how many cases have it; empty unless there are several targets. */
export function matrixLines(results: readonly Result[], style: Style, verbose: boolean): string[] {
  const targets = unique(results.map((result) => result.target))
  if (targets.length < 2) return []
  const cells = groupByModel(results)
  const models = shownModels(cells, verbose)
  const hidden = cells.size - models.length
  const present = new Set(results.map((result) => result.verdict))
  return [
    ...tables(models, targets, cells, style),
    ...(hidden > 0 ? [style.paint('dim', `… ${hidden} more models (-v shows them)`)] : []),
    ...wrapText(symbolLegend(style, present), style.columns).map((line) => style.paint('dim', line)),
  ]
}

type Cells = ReadonlyMap<string, ReadonlyMap<string, readonly Verdict[]>>

function groupByModel(results: readonly Result[]): Cells {
  const cells = new Map<string, Map<string, Verdict[]>>()
  for (const { model, target, verdict } of results) {
    const row = cells.get(model) ?? new Map<string, Verdict[]>()
    const cell = row.get(target) ?? []
    cell.push(verdict)
    cells.set(model, row.set(target, cell))
  }
  return cells
}

/** With many models those that pass everywhere give way to the others. */
function shownModels(cells: Cells, verbose: boolean): string[] {
  const models = [...cells.keys()]
  if (verbose || models.length <= ROWS_SHOWN) return models
  const notable = models.filter((model) => worstVerdict([...cells.get(model)!.values()].flat()) !== 'pass')
  return notable.slice(0, ROWS_SHOWN)
}

/** One table with names on top where they fit, otherwise with numbers and a legend, in as many parts as the width asks for. */
function tables(models: readonly string[], targets: readonly string[], cells: Cells, style: Style): string[] {
  const names = models.map((model) => cleanText(model, 200))
  const longest = Math.max(5, ...names.map(displayWidth))
  const first = Math.min(longest, MODEL_WIDTH, Math.max(8, Math.floor(style.columns / 2)))
  const heads = targets.map((target) => cleanText(target, 200))
  const fits = first + heads.reduce((sum, head) => sum + 2 + displayWidth(head), 0) <= style.columns
  const labels = fits ? heads : targets.map((_, i) => `[${i + 1}]`)
  const legend = fits ? [] : heads.map((head, i) => `[${i + 1}] ${shortenMiddle(head, style.columns - 6)}`)
  const drawn = models.map((model) => targets.map((target) => drawCell(cells.get(model)!.get(target), style)))
  const widths = labels.map((label, i) => Math.max(displayWidth(label), ...drawn.map((row) => displayWidth(row[i]!))))
  const table = (columns: readonly number[]) => {
    const rows = drawn.map((row, i) => [shortenMiddle(names[i]!, first), ...columns.map((c) => row[c]!)])
    const [head = '', ...lines] = tableLines([['model', ...columns.map((c) => labels[c]!)], ...rows])
    return [style.paint('dim', head), ...lines]
  }
  return [...legend, ...splitColumns(widths, style.columns - first).flatMap(table)]
}

function splitColumns(widths: readonly number[], room: number): number[][] {
  const parts: number[][] = []
  let used = 0
  widths.forEach((width, column) => {
    if (parts.length === 0 || used + 2 + width > room) {
      parts.push([])
      used = 0
    }
    parts.at(-1)!.push(column)
    used += 2 + width
  })
  return parts
}

/** What was skipped says nothing where something was judged. */
function drawCell(all: readonly Verdict[] | undefined, style: Style): string {
  if (!all) return '-'
  const judged = all.filter((verdict) => verdict !== 'skip')
  const verdicts = judged.length > 0 ? judged : all
  const worst = worstVerdict(verdicts)
  const count = verdicts.filter((verdict) => verdict === worst).length
  const text = `${style.symbol(worst)}${worst === 'pass' || verdicts.length === 1 ? '' : count}`
  return paintVerdict(style, worst, text)
}

function unique(words: readonly string[]): string[] {
  return [...new Set(words)]
}
