import { isWorse } from './classify.ts'
import { type CellWindow, cellsInRow, type Grid } from './grid.ts'

/** The most cells along one side of a picture. */
export const MOST_CELLS = 2048

/** How a window is cut into blocks of which each is shown as one cell. */
export interface Blocks {
  readonly window: CellWindow
  readonly rowStep: number
  readonly colStep: number
  readonly rows: number
  readonly cols: number
}

export function cutBlocks(window: CellWindow, mostCells = MOST_CELLS): Blocks {
  const rowStep = Math.max(1, Math.ceil(window.rows / mostCells))
  const colStep = Math.max(1, Math.ceil(window.cols / mostCells))
  const [rows, cols] = [Math.ceil(window.rows / rowStep), Math.ceil(window.cols / colStep)]
  return { window, rowStep, colStep, rows, cols }
}

/** Cells of a row of blocks that are there. */
export function blocksInRow(grid: Grid, { window, rowStep, colStep }: Blocks, row: number): number {
  return Math.ceil(cellsInRow(grid, window.row + row * rowStep, window) / colStep)
}

/**
 * The worst element of each block of a part of one row of blocks: where it lies among the part's elements, and at which
 * place of its block. Parts begin at the border of a block.
 */
export function worstOfBlocks(
  severities: Float64Array,
  grid: Grid,
  part: CellWindow,
  colStep: number,
): { readonly elements: Uint32Array; readonly places: Uint32Array } {
  const count = Math.ceil(cellsInRow(grid, part.row, part) / colStep)
  const elements = new Uint32Array(count)
  const places = new Uint32Array(count)
  let element = 0
  for (let row = 0; row < part.rows; row++) {
    const end = element + cellsInRow(grid, part.row + row, part)
    for (let block = 0; element < end; block++) {
      const blockEnd = Math.min(end, element + colStep)
      let worst = row === 0 ? element : elements[block]!
      for (const first = element; element < blockEnd; element++) {
        if (!isWorse(severities[element]!, severities[worst]!)) continue
        worst = element
        places[block] = row * colStep + (element - first)
      }
      elements[block] = worst
    }
  }
  return { elements, places }
}
