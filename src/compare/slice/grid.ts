import { elementCount } from '../../domain/tensor.ts'
import { checkSlice, type SliceIndex } from './slice-index.ts'

/** A slice as rows and columns of elements. A lone axis may be wrapped, and then its last row may not be full. */
export interface Grid {
  readonly index: SliceIndex
  /** null where the slice has fewer axes; a lone axis gives the columns. */
  readonly rowAxis: number | null
  readonly colAxis: number | null
  readonly rows: number
  readonly cols: number
  /** The number of existing cells, in row-major order. */
  readonly count: number
  /** The element of the first cell. */
  readonly first: number
  /** Elements from one row to the next. */
  readonly rowStride: number
  readonly colStride: number
}

/** A rectangle of cells. */
export interface CellWindow {
  readonly row: number
  readonly col: number
  readonly rows: number
  readonly cols: number
}

const NARROW = 32

/** Columns that a lone axis is wrapped to: about as many as there are rows, and a power of two. */
export function wrapWidth(size: number): number {
  return size <= NARROW ? Math.max(1, size) : 2 ** Math.ceil(Math.log2(Math.sqrt(size)))
}

/** Lays out a slice with at most two free axes; a lone one is a row. */
export function layOutSlice(shape: readonly number[], index: SliceIndex): Grid {
  checkSlice(index, shape)
  const strides = shape.map((_, axis) => elementCount(shape.slice(axis + 1)))
  const free = index.flatMap((place, axis) => (place === null ? [axis] : []))
  const [colAxis = null, rowAxis = null] = free.toReversed()
  const rows = rowAxis === null ? 1 : shape[rowAxis]!
  const cols = colAxis === null ? 1 : shape[colAxis]!
  return {
    index,
    rowAxis,
    colAxis,
    rows,
    cols,
    count: rows * cols,
    first: index.reduce<number>((sum, place, axis) => sum + (place ?? 0) * strides[axis]!, 0),
    rowStride: rowAxis === null ? 0 : strides[rowAxis]!,
    colStride: colAxis === null ? 1 : strides[colAxis]!,
  }
}

/** The same with a lone axis wrapped to several rows. */
export function layOutWrapped(shape: readonly number[], index: SliceIndex): Grid {
  const grid = layOutSlice(shape, index)
  if (grid.rowAxis !== null) return grid
  const cols = wrapWidth(grid.cols)
  return { ...grid, rows: Math.ceil(grid.cols / cols), cols, rowStride: cols * grid.colStride }
}

/** Where a cell lies in the tensor. */
export function elementAt({ first, rowStride, colStride }: Grid, row: number, col: number): number {
  return first + row * rowStride + col * colStride
}

/** Cells of one row of a window that are there: the last row of a wrapped grid may end early. */
export function cellsInRow({ cols: width, count }: Grid, row: number, { col, cols }: CellWindow): number {
  return Math.max(0, Math.min(cols, count - (row * width + col)))
}

/** Cells of a window that are there. */
export function cellCount(grid: Grid, window: CellWindow): number {
  let count = 0
  for (let row = window.row; row < window.row + window.rows; row++) count += cellsInRow(grid, row, window)
  return count
}
