import type { ElementReader, OpenPair } from './element-reader.ts'
import { valuesAt } from './samples.ts'
import type { SliceLayout } from './slice.ts'

/**
 * A slice in cells of one or several elements. Each has its largest |t − r| and both values at that place; the error is
 * NaN where a side is not finite and the other is not the same.
 */
export interface Picture {
  readonly layout: SliceLayout
  readonly rows: number
  readonly columns: number
  /** Elements per cell along both axes, but for the last cells. */
  readonly cellRows: number
  readonly cellColumns: number
  readonly error: Float64Array
  readonly reference: Float64Array
  readonly target: Float64Array
}

export interface PictureSize {
  readonly rows: number
  readonly columns: number
}

/** Elements that are read at once at most, where a row does not lie in one piece. */
const MOST_SPANNED = 1 << 18

export function readPicture(pair: OpenPair, layout: SliceLayout, size: PictureSize): Picture {
  const cellRows = Math.ceil(layout.rows / size.rows)
  const cellColumns = Math.ceil(layout.columns / size.columns)
  const [rows, columns] = [Math.ceil(layout.rows / cellRows), Math.ceil(layout.columns / cellColumns)]
  const cells = () => new Float64Array(rows * columns)
  const picture = {
    layout,
    rows,
    columns,
    cellRows,
    cellColumns,
    error: cells().fill(-1),
    reference: cells(),
    target: cells(),
  }
  const perRead = rowsPerRead(layout)
  const [r, t] = [new Float64Array(perRead * layout.columns), new Float64Array(perRead * layout.columns)]
  for (let row = 0; row < layout.rows; row += perRead) {
    const count = Math.min(perRead, layout.rows - row)
    readRows(pair.reference, layout, row, count, r)
    readRows(pair.target, layout, row, count, t)
    for (let i = 0; i < count; i++) {
      const [from, to] = [i * layout.columns, (i + 1) * layout.columns]
      addRow(picture, row + i, r.subarray(from, to), t.subarray(from, to))
    }
  }
  return picture
}

/** Several where they lie in one piece. */
function rowsPerRead({ columns, rowStride, columnStride }: SliceLayout): number {
  return columnStride === 1 && rowStride === columns ? Math.max(1, Math.floor(MOST_SPANNED / columns)) : 1
}

function readRows(reader: ElementReader, layout: SliceLayout, row: number, count: number, out: Float64Array): void {
  const first = layout.first + row * layout.rowStride
  if (layout.columnStride === 1) reader.read(first, count * layout.columns, out)
  else readScattered(reader, first, layout, out)
}

function readScattered(
  reader: ElementReader,
  first: number,
  { columns, columnStride }: SliceLayout,
  out: Float64Array,
): void {
  const perRead = Math.max(1, Math.floor(MOST_SPANNED / columnStride))
  const numbers = new Float64Array(Math.min((columns - 1) * columnStride + 1, MOST_SPANNED))
  for (let column = 0; column < columns; column += perRead) {
    const count = Math.min(perRead, columns - column)
    reader.read(first + column * columnStride, (count - 1) * columnStride + 1, numbers)
    for (let i = 0; i < count; i++) out[column + i] = numbers[i * columnStride]!
  }
}

function addRow(picture: Picture, row: number, r: Float64Array, t: Float64Array): void {
  const { error, reference, target, cellColumns, columns } = picture
  const start = Math.floor(row / picture.cellRows) * columns
  for (let i = 0; i < r.length; i++) {
    const cell = start + Math.floor(i / cellColumns)
    const found = Object.is(r[i], t[i]) ? 0 : Math.abs(t[i]! - r[i]!)
    if (found <= error[cell]! || Number.isNaN(error[cell]!)) continue
    error[cell] = Number.isFinite(found) ? found : Number.NaN
    reference[cell] = r[i]!
    target[cell] = t[i]!
  }
}

/** Both sides' values around a place, in the slice that is shown. */
export interface Neighbours {
  readonly firstRow: number
  readonly firstColumn: number
  readonly rows: number
  readonly columns: number
  readonly reference: readonly number[]
  readonly target: readonly number[]
}

export function readNeighbours(
  pair: OpenPair,
  layout: SliceLayout,
  at: readonly number[],
  size: PictureSize,
): Neighbours {
  const [row, column] = [layout.rowAxis === null ? 0 : at[layout.rowAxis]!, at[layout.columnAxis]!]
  const [rows, columns] = [Math.min(size.rows, layout.rows), Math.min(size.columns, layout.columns)]
  const firstRow = Math.max(0, Math.min(layout.rows - rows, row - Math.floor(rows / 2)))
  const firstColumn = Math.max(0, Math.min(layout.columns - columns, column - Math.floor(columns / 2)))
  const places = Array.from({ length: rows * columns }, (_, i) => {
    const [y, x] = [firstRow + Math.floor(i / columns), firstColumn + (i % columns)]
    return layout.first + y * layout.rowStride + x * layout.columnStride
  })
  const valuesOf = (reader: ElementReader) => Array.from(valuesAt(reader, places))
  return { firstRow, firstColumn, rows, columns, reference: valuesOf(pair.reference), target: valuesOf(pair.target) }
}
