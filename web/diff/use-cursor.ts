import { useState } from 'preact/hooks'
import { type Cells, shownPlace } from './pictures/cells.ts'
import type { Gestures } from './pictures/pictures.tsx'
import { atIndex, type Cell, cursorCell, indexAt, type ViewState } from './view-state.ts'

/** The cell under the pointer, or else the chosen one; a click chooses the element that a cell shows. */
export function useCursor(
  state: ViewState,
  shape: readonly number[],
  cells: Cells | null,
  change: (state: ViewState) => void,
): { readonly cursor: Cell; readonly gestures: Gestures } {
  const [hovered, hover] = useState<Cell | null>(null)
  const point = (cell: Cell) => {
    const index = indexAt(state, shape, shownPlace(cells, cell))
    if (index) change(atIndex(state, index))
  }
  const look = (view: ViewState['view']) => change({ ...state, view })
  return { cursor: hovered ?? cursorCell(state, shape), gestures: { hover, point, look } }
}
