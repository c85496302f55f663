import type { PairLimits } from '../../../src/compare/pairs/pair-statistics.ts'
import { blocksInRow, cutBlocks } from '../../../src/compare/slice/blocks.ts'
import { decodePairs, type NumberPairs, type RawTensor } from '../../../src/compare/slice/classify.ts'
import type { SliceHeader } from '../../../src/compare/slice/contract.ts'
import type { CellWindow, Grid } from '../../../src/compare/slice/grid.ts'
import { finiteRange, type Range, Tallier, type Tally } from '../../../src/compare/slice/tally.ts'
import type { Side } from '../../../src/domain/verdict.ts'
import { decodeNumbers } from '../../../src/tensors/decode.ts'
import type { Cell } from '../view-state.ts'

/** What the server gave for a window of a slice. */
export interface LoadedSlice {
  readonly header: SliceHeader
  readonly raw: Readonly<Partial<Record<Side, RawTensor>>>
  readonly places: Uint32Array
}

/** A part of the picture, cell by cell. */
export interface Cells {
  readonly rows: number
  readonly cols: number
  /** The part of the picture that they stand for. */
  readonly window: CellWindow
  readonly rowStep: number
  readonly colStep: number
  readonly isTurned: boolean
  /** Where the element of each cell lies in the raw tensors; −1 where there is none. */
  readonly positions: Int32Array
  readonly slice: LoadedSlice
  readonly numbers: Readonly<Partial<Record<Side, Float64Array>>>
  /** Both sides; null where there is only one. */
  readonly pairs: NumberPairs | null
}

/** How the cells meet their limits. */
export interface Judged {
  readonly limits: PairLimits
  /** By position, not by cell. */
  readonly severities: Float64Array
  readonly tally: Tally
  /** Whether other limits would show other elements, so that the server has to be asked. */
  readonly isStale: boolean
}

/** Lays a slice out; `grid` is the server's, whose rows are the earlier dimension. */
export function layOut(slice: LoadedSlice, grid: Grid, isTurned: boolean): Cells {
  const { window, rowStep, colStep } = slice.header
  const blocks = cutBlocks(window)
  const [rows, cols] = isTurned ? [blocks.cols, blocks.rows] : [blocks.rows, blocks.cols]
  const positions = new Int32Array(rows * cols).fill(-1)
  let count = 0
  for (let row = 0; row < blocks.rows; row++) {
    const present = blocksInRow(grid, blocks, row)
    for (let col = 0; col < present; col++) positions[isTurned ? col * cols + row : row * cols + col] = count++
  }
  const turned = { row: window.col, col: window.row, rows: window.cols, cols: window.rows }
  const steps = isTurned ? { rowStep: colStep, colStep: rowStep } : { rowStep, colStep }
  const layout = { rows, cols, window: isTurned ? turned : window, ...steps, isTurned, positions, slice }
  return { ...layout, ...decode(slice, count) }
}

function decode({ raw: { reference, target } }: LoadedSlice, count: number): Pick<Cells, 'numbers' | 'pairs'> {
  if (reference && target) {
    const pairs = decodePairs(reference, target, count)
    return { pairs, numbers: { reference: pairs.reference, target: pairs.target } }
  }
  return { pairs: null, numbers: { ...lone('reference', reference, count), ...lone('target', target, count) } }
}

function lone(side: Side, raw: RawTensor | undefined, count: number): Partial<Record<Side, Float64Array>> {
  if (!raw) return {}
  const numbers = new Float64Array(count)
  decodeNumbers(raw.dtype, raw.bytes, 0, count, numbers)
  return { [side]: numbers }
}

export function judge({ pairs, slice: { header } }: Cells, limits: PairLimits): Judged | null {
  if (!pairs) return null
  const tallier = new Tallier(limits)
  const severities = tallier.add(pairs)
  const isStale = header.tally !== null && !isSameLimit(limits, header.limits)
  return { limits, severities, tally: header.tally ?? tallier.result(), isStale }
}

function isSameLimit(a: PairLimits, b: PairLimits | null): boolean {
  return b !== null && a.rtol === b.rtol && a.constant === b.constant && a.ulps === b.ulps
}

/** Finite values of the sides that are loaded, together. */
export function valueRange({ numbers }: Cells): Range | null {
  return finiteRange(Object.values(numbers))
}

/** The cell that stands for a place of the picture; null where it is not loaded or not there. */
export function cellAt({ window, rowStep, colStep, rows, cols, positions }: Cells, { row, col }: Cell): number | null {
  const [r, c] = [Math.floor((row - window.row) / rowStep), Math.floor((col - window.col) / colStep)]
  if (r < 0 || c < 0 || r >= rows || c >= cols) return null
  const cell = r * cols + c
  return positions[cell]! < 0 ? null : cell
}

/** The place in the picture of the element that a cell shows. */
export function findPlace(cells: Cells, cell: number): Cell {
  const { window, rowStep, colStep, cols, isTurned, positions, slice } = cells
  const [row, col] = [Math.floor(cell / cols) * rowStep + window.row, (cell % cols) * colStep + window.col]
  if (slice.places.length === 0) return { row, col }
  const place = slice.places[positions[cell]!]!
  const width = slice.header.colStep
  const [down, across] = [Math.floor(place / width), place % width]
  return isTurned ? { row: row + across, col: col + down } : { row: row + down, col: col + across }
}

/** Of a cell that stands for many elements the one that it shows. */
export function shownPlace(cells: Cells | null, place: Cell): Cell {
  const cell = cells && cellAt(cells, place)
  return cells && cell !== null && cells.slice.places.length > 0 ? findPlace(cells, cell) : place
}
