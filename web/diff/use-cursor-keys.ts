import type { WorstPlace } from '../../src/domain/result.ts'
import { type Size, showing, whole, zoom } from './pictures/viewport.ts'
import { useKeys } from './use-keys.ts'
import { atIndex, cursorCell, indexAt, type ViewState } from './view-state.ts'

const LEAP = 10

export interface CursorKeys {
  readonly state: ViewState
  readonly shape: readonly number[]
  readonly grid: Size
  readonly stepped: number | null
  readonly worst: readonly WorstPlace[]
  change(state: ViewState): void
  goTo(place: WorstPlace): void
}

/** Arrows move the cursor, brackets the slice, n and p go through the worst places. */
export function useCursorKeys({ state, shape, grid, stepped, worst, change, goTo }: CursorKeys): void {
  const cursor = cursorCell(state, shape)
  const move = (down: number, across: number) => (event: KeyboardEvent) => {
    const by = event.shiftKey ? LEAP : 1
    const row = Math.max(0, Math.min(grid.rows - 1, cursor.row + down * by))
    const col = Math.max(0, Math.min(grid.cols - 1, cursor.col + across * by))
    const index = indexAt(state, shape, { row, col })
    const view = state.view && showing(state.view, { row, col }, grid)
    if (index) change({ ...atIndex(state, index), view })
  }
  const step = (by: number) => () => {
    if (stepped === null) return
    const place = Math.max(0, Math.min(shape[stepped]! - 1, state.index[stepped]! + by))
    change(atIndex(state, state.index.with(stepped, place)))
  }
  const look = (factor: number) => () => {
    const view = state.view ?? whole(grid)
    const at = { x: part(cursor.col - view.col, view.cols), y: part(cursor.row - view.row, view.rows) }
    change({ ...state, view: zoom(view, grid, factor, at) })
  }
  const go = (by: number) => () => {
    const places = worst.filter(({ error }) => error !== 0)
    const now = places.findIndex(({ index }) => index.every((place, axis) => state.index[axis] === place))
    const place = places[now < 0 ? 0 : (now + by + places.length) % places.length]
    if (place) goTo(place)
  }
  useKeys({
    ArrowUp: move(-1, 0),
    ArrowDown: move(1, 0),
    ArrowLeft: move(0, -1),
    ArrowRight: move(0, 1),
    '[': step(-1),
    ']': step(1),
    '+': look(1 / 1.5),
    '=': look(1 / 1.5),
    '-': look(1.5),
    '0': () => change({ ...state, view: null }),
    w: () => worst[0] && worst[0].error !== 0 && goTo(worst[0]),
    n: go(1),
    p: go(-1),
  })
}

function part(cells: number, of: number): number {
  return Math.max(0, Math.min(1, (cells + 0.5) / of))
}
