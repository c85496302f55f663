import type { Neighbours, Picture } from '../../compare/diff/picture.ts'
import { FIGURES, tableLines } from '../../domain/table.ts'
import { displayWidth, formatNumber } from '../../domain/text.ts'
import type { Style } from '../style.ts'

/** Fewer digits where there is no room for more. */
const DIGITS = [4, 3, 2]

/** Both sides' values around the worst place: side by side, or one above the other where there is no room. */
export function neighbourLines(neighbours: Neighbours, { grid }: Picture, style: Style): string[] {
  const hasRowIndex = grid.rowAxis !== null
  const { reference, target } = neighbours
  const beside = DIGITS.map((digits) => {
    const [left, right] = [
      table(neighbours, reference, 'reference', hasRowIndex, digits),
      table(neighbours, target, 'target', false, digits),
    ]
    return left.map((line, i) => `  ${line}  │ ${right[i]!}`)
  })
  const above = () =>
    [
      ...table(neighbours, reference, 'reference', hasRowIndex, 4),
      ...table(neighbours, target, 'target', hasRowIndex, 4),
    ].map((line) => `  ${line}`)
  const lines = beside.find((table) => table.every((line) => displayWidth(line) <= style.columns)) ?? above()
  return lines.map((line, i) => (i === 0 ? style.paint('dim', line) : line))
}

/** Rows with their index in front; the first line has the name and the indices of the columns. */
function table(
  grid: Neighbours,
  values: readonly number[],
  name: string,
  hasRowIndex: boolean,
  digits: number,
): string[] {
  const head = [name, ...Array.from({ length: grid.columns }, (_, column) => `[${grid.firstColumn + column}]`)]
  const rows = Array.from({ length: grid.rows }, (_, row) => {
    const cells = values.slice(row * grid.columns, (row + 1) * grid.columns)
    return [hasRowIndex ? `[${grid.firstRow + row}]` : '', ...cells.map((value) => formatNumber(value, digits))]
  })
  return tableLines([head, ...rows], FIGURES)
}
