import { useMemo } from 'preact/hooks'
import type { Grid } from '../../src/compare/slice/grid.ts'
import type { Cells, Judged } from './pictures/cells.ts'
import { valueRange } from './pictures/cells.ts'
import { DARK, errorColours, LIGHT, pickCells, valueColours } from './pictures/paint.ts'
import { Picture } from './pictures/picture.tsx'
import { CanvasFrame, type Gestures, pixelSize, useWidth } from './pictures/pictures.tsx'
import { ErrorScale, Scale } from './pictures/scales.tsx'
import { whole } from './pictures/viewport.ts'
import { useDark } from './use-diff.ts'
import type { Cell, ViewState } from './view-state.ts'

const GAP = 16

export interface ThreePicturesProps {
  readonly state: ViewState
  readonly grid: Grid
  readonly cells: Cells
  readonly judged: Judged | null
  readonly isLoading: boolean
  readonly cursor: Cell
  readonly gestures: Gestures
}

/** Side by side, with one zoom and one cross-hair. */
export function ThreePictures({ state, grid, cells, judged, isLoading, cursor, gestures }: ThreePicturesProps) {
  const { ref, width } = useWidth()
  const theme = useDark() ? DARK : LIGHT
  const view = state.view ?? whole(grid)
  const size = pixelSize((width - 2 * GAP) / 3, grid)
  const severities = judged?.severities ?? null
  const { pixelsWide, pixelsHigh } = size
  const picked = useMemo(
    () => (width > 0 ? pickCells(cells, severities, view, pixelsWide, pixelsHigh) : new Int32Array(0)),
    [cells, severities, view.row, view.col, view.rows, view.cols, pixelsWide, pixelsHigh],
  )
  const range = useMemo(() => valueRange(cells), [cells])
  const colours = useMemo(() => {
    const { reference, target } = cells.numbers
    return { reference: valueColours(reference!, range), target: valueColours(target!, range) }
  }, [cells, range])
  const errors = useMemo(() => severities && errorColours(severities, theme), [severities, theme])
  const common = { cells, picked, view, size, theme, cursor }
  const note = noteOf(cells)
  return (
    <div ref={ref} class={isLoading || judged?.isStale ? 'pictures waiting' : 'pictures'}>
      {width > 0 && (
        <>
          {(['reference', 'target'] as const).map((side) => (
            <section key={side} class="picture">
              <h2>{side}</h2>
              <CanvasFrame view={view} size={grid} gestures={gestures}>
                <Picture id={side} label={side} colours={colours[side]} {...common} />
              </CanvasFrame>
              <Scale range={range} numbers={cells.numbers[side]!} />
            </section>
          ))}
          <section class="picture">
            <h2>
              difference{' '}
              <span class="quiet" id="cell-note">
                {note}
              </span>
            </h2>
            {errors && severities && (
              <CanvasFrame view={view} size={grid} gestures={gestures}>
                <Picture id="difference" label="difference" colours={errors} severities={severities} {...common} />
              </CanvasFrame>
            )}
            <ErrorScale />
          </section>
        </>
      )}
    </div>
  )
}

function noteOf({ rowStep, colStep, slice }: Cells): string {
  return slice.places.length > 0 ? `each cell is the worst of ${rowStep} × ${colStep}` : ''
}
