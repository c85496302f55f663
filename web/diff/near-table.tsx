import { useMemo } from 'preact/hooks'
import type { ShownPair } from '../../src/compare/slice/contract.ts'
import { wrapWidth } from '../../src/compare/slice/grid.ts'
import { type Cells, type Judged, judge } from './pictures/cells.ts'
import { Neighbours, neighbourhood } from './pictures/neighbours.tsx'
import { useCells } from './use-diff.ts'
import { type Cell, pictureGrid, type ViewState } from './view-state.ts'

export interface NearTableProps {
  readonly pair: ShownPair
  readonly state: ViewState
  readonly shape: readonly number[]
  readonly cells: Cells
  readonly judged: Judged | null
  readonly cursor: Cell
}

/** The values around the cursor, fetched where cells of the picture stand for several. */
export function NearTable(props: NearTableProps) {
  const { state, shape, cells, judged, cursor } = props
  const window = neighbourhood(cursor, pictureGrid(shape, state))
  return (
    <section class="panel">
      <h2>
        values around the cursor <span class="quiet">reference over target</span>
      </h2>
      {cells.slice.places.length > 0 ? (
        <FetchedTable {...props} state={{ ...state, view: window }} />
      ) : (
        <Neighbours cells={cells} judged={judged} window={window} cursor={cursor} wrap={wrapOf(state, shape)} />
      )}
    </section>
  )
}

function FetchedTable({ pair, state, shape, judged, cursor }: NearTableProps) {
  const { cells, problem } = useCells(state, pair, null)
  const limits = judged?.limits
  const near = useMemo(() => (cells && limits ? judge(cells, limits) : null), [cells, limits])
  if (problem) return <p class="problem">{problem}</p>
  if (!cells) return <p class="quiet">reading …</p>
  return <Neighbours cells={cells} judged={near} window={state.view!} cursor={cursor} wrap={wrapOf(state, shape)} />
}

function wrapOf({ axes: [first, second] }: ViewState, shape: readonly number[]): number | null {
  return first !== undefined && second === undefined ? wrapWidth(shape[first]!) : null
}
