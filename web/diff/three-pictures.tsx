import { useMemo } from 'preact/hooks'
import type { Grid } from '../../src/compare/slice/grid.ts'
import type { Cells, Judged } from './pictures/cells.ts'
import { errorColours } from './pictures/paint.ts'
import { Picture } from './pictures/picture.tsx'
import { CanvasFrame, type Gestures, useWidth } from './pictures/pictures.tsx'
import { ErrorScale } from './pictures/scales.tsx'
import { SidePicture, useDrawing } from './pictures/side-picture.tsx'
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
  const severities = judged?.severities ?? null
  const drawing = useDrawing(cells, severities, state.view, grid, (width - 2 * GAP) / 3)
  const { theme, view } = drawing
  const errors = useMemo(() => severities && errorColours(severities, theme), [severities, theme])
  return (
    <div ref={ref} class={isLoading || judged?.isStale ? 'pictures waiting' : 'pictures'}>
      {width > 0 && (
        <>
          {(['reference', 'target'] as const).map((side) => (
            <section key={side} class="picture">
              <h2>{side}</h2>
              <SidePicture side={side} drawing={drawing} grid={grid} cursor={cursor} gestures={gestures} />
            </section>
          ))}
          <section class="picture">
            <h2>
              difference{' '}
              <span class="quiet" id="cell-note">
                {noteOf(cells)}
              </span>
            </h2>
            {errors && severities && (
              <CanvasFrame view={view} size={grid} gestures={gestures}>
                <Picture id="difference" colours={errors} severities={severities} cursor={cursor} {...drawing} />
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
