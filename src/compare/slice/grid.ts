import { UsageError } from '../../domain/errors.ts'
import { formatShape } from '../../domain/tensor.ts'

/** One entry per dimension: a place, or null to take all. */
export type SliceIndex = readonly (number | null)[]

/** A slice as rows and columns of elements. A lone dimension is wrapped, so its last row may not be full. */
export interface Grid {
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

/** Columns that a lone dimension is wrapped to: about as many as there are rows, and a power of two. */
export function wrapWidth(size: number): number {
  return size <= NARROW ? Math.max(1, size) : 2 ** Math.ceil(Math.log2(Math.sqrt(size)))
}

/** The grid of a slice with at most two free dimensions. */
export function gridOf(shape: readonly number[], index: SliceIndex): Grid {
  checkIndex(shape, index)
  const strides = stridesOf(shape)
  const first = index.reduce<number>((sum, place, axis) => sum + (place ?? 0) * strides[axis]!, 0)
  const [rowAxis, colAxis] = index.flatMap((place, axis) => (place === null ? [axis] : []))
  if (rowAxis === undefined) return { rows: 1, cols: 1, count: 1, first, rowStride: 1, colStride: 1 }
  if (colAxis === undefined) return wrapped(shape[rowAxis]!, first, strides[rowAxis]!)
  const [rows, cols] = [shape[rowAxis]!, shape[colAxis]!]
  return { rows, cols, count: rows * cols, first, rowStride: strides[rowAxis]!, colStride: strides[colAxis]! }
}

function wrapped(size: number, first: number, stride: number): Grid {
  const cols = wrapWidth(size)
  return { rows: Math.ceil(size / cols), cols, count: size, first, rowStride: cols * stride, colStride: stride }
}

function checkIndex(shape: readonly number[], index: SliceIndex): void {
  const free = index.filter((place) => place === null).length
  const isInside = index.every((place, axis) => place === null || isPlace(place, shape[axis]!))
  if (index.length === shape.length && free <= 2 && isInside) return
  const found = index.map((place) => place ?? ':').join(',')
  const need = 'one place per dimension within its size, and ":" for at most two'
  throw new UsageError('slice', `slice ${found} does not fit the shape ${formatShape(shape)}; give ${need}`)
}

function isPlace(place: number, size: number): boolean {
  return Number.isInteger(place) && place >= 0 && place < size
}

/** Elements between neighbours along each dimension, row-major. */
function stridesOf(shape: readonly number[]): number[] {
  const strides: number[] = []
  let stride = 1
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    strides.unshift(stride)
    stride *= shape[axis]!
  }
  return strides
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
