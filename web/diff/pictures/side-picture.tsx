import { useMemo } from 'preact/hooks'
import type { CellWindow } from '../../../src/compare/slice/grid.ts'
import type { Range } from '../../../src/compare/slice/tally.ts'
import type { Side } from '../../../src/domain/verdict.ts'
import { useDark } from '../use-diff.ts'
import type { Cell } from '../view-state.ts'
import { type Cells, valueRange } from './cells.ts'
import { DARK, LIGHT, pickCells, type Theme, valueColours } from './paint.ts'
import { Picture, type PixelSize } from './picture.tsx'
import { CanvasFrame, type Gestures, pixelSize } from './pictures.tsx'
import { Scale } from './scales.tsx'
import { type Size, whole } from './viewport.ts'

/** What pictures of the same cells have in common. */
export interface Drawing {
  readonly cells: Cells
  readonly view: CellWindow
  readonly size: PixelSize
  readonly theme: Theme
  readonly picked: Int32Array
  readonly range: Range | null
}

/** Chooses a cell for each pixel of pictures that are `room` pixels wide; the worst of several by `severities`. */
export function useDrawing(
  cells: Cells,
  severities: Float64Array | null,
  sight: CellWindow | null,
  grid: Size,
  room: number,
): Drawing {
  const theme = useDark() ? DARK : LIGHT
  const view = sight ?? whole(grid)
  const size = pixelSize(room, grid)
  const { pixelsWide, pixelsHigh } = size
  const picked = useMemo(
    () => (room > 0 ? pickCells(cells, severities, view, pixelsWide, pixelsHigh) : new Int32Array(0)),
    [cells, severities, view.row, view.col, view.rows, view.cols, pixelsWide, pixelsHigh],
  )
  const range = useMemo(() => valueRange(cells), [cells])
  return { cells, view, size, theme, picked, range }
}

export interface SidePictureProps {
  readonly side: Side
  readonly drawing: Drawing
  readonly grid: Size
  readonly cursor: Cell
  readonly gestures: Gestures
}

/** The values of one side, with their colours below. */
export function SidePicture({ side, drawing, grid, cursor, gestures }: SidePictureProps) {
  const { cells, view, range } = drawing
  const numbers = cells.numbers[side]!
  const colours = useMemo(() => valueColours(numbers, range), [numbers, range])
  return (
    <>
      <CanvasFrame view={view} size={grid} gestures={gestures}>
        <Picture id={side} colours={colours} cursor={cursor} {...drawing} />
      </CanvasFrame>
      <Scale range={range} numbers={numbers} />
    </>
  )
}
