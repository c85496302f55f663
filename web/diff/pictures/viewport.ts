import type { CellWindow } from '../../../src/compare/slice/grid.ts'
import type { Cell } from '../view-state.ts'

export interface Size {
  readonly rows: number
  readonly cols: number
}

/** Fewer cells than this are not shown. */
const LEAST = 4
/** Around a worst place so many are, along the longer side and along the shorter at least. */
const WORST_VIEW = 48
const LEAST_NEAR = 12

export function whole({ rows, cols }: Size): CellWindow {
  return { row: 0, col: 0, rows, cols }
}

/** Shows fewer or more cells; `at`, in parts of the view, stays where it is. Null: all are in sight. */
export function zoom(view: CellWindow, size: Size, factor: number, at: { x: number; y: number }): CellWindow | null {
  const rows = scaled(view.rows, factor, size.rows)
  const cols = scaled(view.cols, factor, size.cols)
  if (rows === size.rows && cols === size.cols) return null
  const row = view.row + (view.rows - rows) * at.y
  const col = view.col + (view.cols - cols) * at.x
  return within({ row, col, rows, cols }, size)
}

/** A zoom always moves by a cell at least, or small pictures would be stuck. */
function scaled(cells: number, factor: number, most: number): number {
  const wanted = Math.round(cells * factor)
  const moved = wanted === cells ? cells + Math.sign(factor - 1) : wanted
  return Math.min(most, Math.max(Math.min(LEAST, most), moved))
}

/** Moved so that it lies inside. */
export function within({ row, col, rows, cols }: CellWindow, size: Size): CellWindow {
  const inside = (start: number, length: number, most: number) =>
    Math.max(0, Math.min(Math.round(start), most - length))
  return { row: inside(row, rows, size.rows), col: inside(col, cols, size.cols), rows, cols }
}

/** Moved just as far as it takes to see a cell. */
export function showing(view: CellWindow, { row, col }: Cell, size: Size): CellWindow {
  const reach = (start: number, length: number, place: number) => Math.min(place, Math.max(start, place - length + 1))
  return within({ ...view, row: reach(view.row, view.rows, row), col: reach(view.col, view.cols, col) }, size)
}

/** So near, by default, that a place can be told from its neighbours; null where all of the picture is. */
export function around({ row, col }: Cell, size: Size, most = WORST_VIEW): CellWindow | null {
  const longer = Math.max(size.rows, size.cols)
  if (longer <= 2 * most) return null
  const part = (cells: number) => Math.min(cells, Math.max(LEAST_NEAR, Math.round((cells * most) / longer)))
  const [rows, cols] = [part(size.rows), part(size.cols)]
  return within({ row: row - rows / 2, col: col - cols / 2, rows, cols }, size)
}
