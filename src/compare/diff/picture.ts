import { type CellWindow, elementAt, type Grid } from '../slice/grid.ts'
import type { ElementReader, OpenPair } from './element-reader.ts'
import { valuesAt } from './samples.ts'

/**
 * A slice in cells of one or several elements. Each has its largest |t − r| and both values at that place; the error is
 * NaN where a side is not finite and the other is not the same.
 */
export interface Picture {
  readonly grid: Grid
  readonly rows: number
  readonly columns: number
  /** Elements per cell along both axes; the last cells may have fewer. */
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

/** Elements that are read at once at most. */
const MOST_SPANNED = 1 << 18

export function readPicture(pair: OpenPair, grid: Grid, size: PictureSize): Picture {
  const cellRows = Math.ceil(grid.rows / size.rows)
  const cellColumns = Math.ceil(grid.cols / size.columns)
  const [rows, columns] = [Math.ceil(grid.rows / cellRows), Math.ceil(grid.cols / cellColumns)]
  const cells = () => new Float64Array(rows * columns)
  const picture = {
    grid,
    rows,
    columns,
    cellRows,
    cellColumns,
    error: cells().fill(-1),
    reference: cells(),
    target: cells(),
  }
  for (const part of partsOf(grid)) {
    const r = readPart(pair.reference, grid, part)
    const t = readPart(pair.target, grid, part)
    for (let i = 0; i < part.rows; i++) {
      const [from, to] = [i * part.cols, (i + 1) * part.cols]
      addRow(picture, part.row + i, part.col, r.subarray(from, to), t.subarray(from, to))
    }
  }
  return picture
}

/** Several contiguous rows, or one row, or a part of a long row. */
function* partsOf(grid: Grid): Generator<CellWindow> {
  const perRead = rowsPerRead(grid)
  const width = Math.min(grid.cols, MOST_SPANNED)
  for (let row = 0; row < grid.rows; row += perRead) {
    const rows = Math.min(perRead, grid.rows - row)
    for (let col = 0; col < grid.cols; col += width) {
      yield { row, rows, col, cols: Math.min(width, grid.cols - col) }
    }
  }
}

/** Several contiguous rows. */
function rowsPerRead({ cols, rowStride, colStride }: Grid): number {
  return colStride === 1 && rowStride === cols ? Math.max(1, Math.floor(MOST_SPANNED / cols)) : 1
}

function readPart(reader: ElementReader, grid: Grid, part: CellWindow): Float64Array {
  const out = new Float64Array(part.rows * part.cols)
  const first = elementAt(grid, part.row, part.col)
  if (grid.colStride === 1) reader.read(first, out.length, out)
  else readScattered(reader, first, grid.colStride, out)
  return out
}

function readScattered(reader: ElementReader, first: number, stride: number, out: Float64Array): void {
  const perRead = Math.max(1, Math.floor(MOST_SPANNED / stride))
  const numbers = new Float64Array(Math.min((out.length - 1) * stride + 1, MOST_SPANNED))
  for (let column = 0; column < out.length; column += perRead) {
    const count = Math.min(perRead, out.length - column)
    reader.read(first + column * stride, (count - 1) * stride + 1, numbers)
    for (let i = 0; i < count; i++) out[column + i] = numbers[i * stride]!
  }
}

/** A row, or the part of it that begins at a column. */
function addRow(picture: Picture, row: number, column: number, r: Float64Array, t: Float64Array): void {
  const { cellRows, cellColumns, columns } = picture
  const start = Math.floor(row / cellRows) * columns
  for (let from = 0; from < r.length; ) {
    const place = Math.floor((column + from) / cellColumns)
    const to = Math.min(r.length, (place + 1) * cellColumns - column)
    addCell(picture, start + place, r.subarray(from, to), t.subarray(from, to))
    from = to
  }
}

function addCell({ error, reference, target }: Picture, cell: number, r: Float64Array, t: Float64Array): void {
  let most = error[cell]!
  for (let i = 0; i < r.length && !Number.isNaN(most); i++) {
    const found = Object.is(r[i], t[i]) ? 0 : Math.abs(t[i]! - r[i]!)
    if (found <= most) continue
    most = Number.isFinite(found) ? found : Number.NaN
    reference[cell] = r[i]!
    target[cell] = t[i]!
  }
  error[cell] = most
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

export function readNeighbours(pair: OpenPair, grid: Grid, at: readonly number[], size: PictureSize): Neighbours {
  const placeOn = (axis: number | null) => (axis === null ? 0 : at[axis]!)
  const [row, column] = [placeOn(grid.rowAxis), placeOn(grid.colAxis)]
  const [rows, columns] = [Math.min(size.rows, grid.rows), Math.min(size.columns, grid.cols)]
  const firstRow = Math.max(0, Math.min(grid.rows - rows, row - Math.floor(rows / 2)))
  const firstColumn = Math.max(0, Math.min(grid.cols - columns, column - Math.floor(columns / 2)))
  const places = Array.from({ length: rows * columns }, (_, i) =>
    elementAt(grid, firstRow + Math.floor(i / columns), firstColumn + (i % columns)),
  )
  const valuesOf = (reader: ElementReader) => Array.from(valuesAt(reader, places))
  return { firstRow, firstColumn, rows, columns, reference: valuesOf(pair.reference), target: valuesOf(pair.target) }
}
