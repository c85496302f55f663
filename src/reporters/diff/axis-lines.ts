import type { AxisProfile } from '../../compare/diff/axis-profiles.ts'
import { percent } from '../../compare/diff/structure-findings.ts'
import { tableLines } from '../../domain/table.ts'
import { displayWidth } from '../../domain/text.ts'
import type { Style } from '../style.ts'

const HEIGHTS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█']
const ASCII_HEIGHTS = [' ', '.', ':', '-', '=', '+', '*', '#']
const MOST_COLUMNS = 40
const LISTED = 2

/** Which indices of every axis hold the squared error: the worst by name, all of them as a line. */
export function axisLines(axes: readonly AxisProfile[], style: Style): string[] {
  const heads = tableLines(axes.map((profile) => [`  axis ${profile.axis} (${profile.size})`, worstIndices(profile)]))
  const room = Math.min(MOST_COLUMNS, style.columns - Math.max(...heads.map(displayWidth)) - 2)
  return tableLines(axes.map(({ sums }, i) => [heads[i]!, room >= 8 ? lineOf(sums, room, style) : '']))
}

function worstIndices({ sums, binSize }: AxisProfile): string {
  const total = sums.reduce((sum, value) => sum + value, 0)
  return topBins(sums)
    .map((bin) => `${indexText(bin, binSize)}: ${percent(sums[bin]! / total)}`)
    .join(', ')
}

function indexText(bin: number, binSize: number): string {
  return binSize === 1 ? String(bin) : `${bin * binSize}–${(bin + 1) * binSize - 1}`
}

function topBins(sums: Float64Array): number[] {
  const top: number[] = []
  for (let bin = 0; bin < sums.length; bin++) {
    if (!(sums[bin]! > 0)) continue
    const at = top.findIndex((other) => sums[bin]! > sums[other]!)
    top.splice(at < 0 ? top.length : at, 0, bin)
    if (top.length > LISTED) top.pop()
  }
  return top
}

/** Every column is the sum of as many indices, in parts of the highest. */
function lineOf(sums: Float64Array, room: number, { ascii }: Style): string {
  const perColumn = Math.ceil(sums.length / room)
  const columns = Array.from({ length: Math.ceil(sums.length / perColumn) }, (_, i) =>
    sums.subarray(i * perColumn, (i + 1) * perColumn).reduce((sum, value) => sum + value, 0),
  )
  const most = Math.max(...columns)
  const heights = ascii ? ASCII_HEIGHTS : HEIGHTS
  return columns.map((sum) => heights[Math.ceil((sum / most) * 7)]!).join('')
}
