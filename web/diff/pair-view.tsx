import { useEffect, useMemo, useState } from 'preact/hooks'
import type { PairLimits } from '../../src/compare/pairs/pair-statistics.ts'
import type { WorstPlace } from '../../src/domain/result.ts'
import { formatCount, worsePart } from './format.ts'
import { NearTable } from './near-table.tsx'
import { type Cells, cellAt, type Judged, judge, shownPlace } from './pictures/cells.ts'
import { Histogram } from './pictures/histogram.tsx'
import { Legend } from './pictures/legend.tsx'
import { around } from './pictures/viewport.ts'
import { Readout } from './readout.tsx'
import { SlicePicker } from './slice-picker.tsx'
import type { TensorViewProps } from './tensor-view.tsx'
import { ThreePictures } from './three-pictures.tsx'
import { ToleranceBox } from './tolerance-box.tsx'
import { useCursor } from './use-cursor.ts'
import { useCursorKeys } from './use-cursor-keys.ts'
import { useCells } from './use-diff.ts'
import { atIndex, cursorCell, type Limits, pictureGrid, slicedAxes, type ViewState } from './view-state.ts'
import { WorstList } from './worst-list.tsx'

/** A slice of more elements takes longer than somebody likes to wait for a first picture. */
const HUGE = 2 ** 24
const FIRST_CELLS = 1024

/** Reference, target and difference of two tensors of one shape. */
export function PairView(props: TensorViewProps) {
  const { pair, state, entry, change, ready } = props
  const { shape, isComplex } = pair.reference!
  const [focused, setFocused] = useState<number | null>(null)
  const isHuge = pictureGrid(shape, state).count > HUGE
  const isHeld = isHuge && !state.isPlaced
  const { cells, problem, isLoading } = useCells(state, pair, null, isHeld)
  const isShown = isHeld || cells !== null || problem !== null
  useEffect(() => {
    if (isShown) ready()
  }, [isShown])
  const limits = useLimits(cells, state.tolerance)
  const judged = useMemo(() => (cells && limits ? judge(cells, limits) : null), [cells, limits])
  const worst = entry === undefined || entry instanceof Error ? [] : entry.result.worst
  const stepped = steppedAxis(state, shape, focused)
  const grid = pictureGrid(shape, state)
  const { cursor, gestures } = useCursor(state, shape, cells, change)
  const goTo = (place: WorstPlace) => change(lookAt(state, shape, place, isComplex))
  useEffect(() => {
    if (entry !== undefined && !state.isPlaced) change(firstLook(state, shape, worst, isComplex))
  }, [entry, state.isPlaced])
  useCursorKeys({ state, shape, grid, stepped, worst, change, goTo })
  return (
    <>
      <div class="controls">
        {limits && (
          <ToleranceBox
            limits={limits}
            tolerance={state.tolerance}
            change={(tolerance) => change({ ...state, tolerance })}
          />
        )}
        <button
          type="button"
          id="worst-place"
          disabled={!worst[0] || worst[0].error === 0}
          onClick={() => goTo(worst[0]!)}
        >
          worst place <kbd>w</kbd>
        </button>
        <button type="button" disabled={state.view === null} onClick={() => change({ ...state, view: null })}>
          show all <kbd>0</kbd>
        </button>
      </div>
      <SlicePicker
        state={state}
        shape={shape}
        isComplex={isComplex}
        worst={worst}
        stepped={stepped}
        change={change}
        focus={setFocused}
      />
      {problem && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      {!cells && !problem && (
        <p class="quiet">
          {isHeld ? 'looking for the worst place …' : `reading ${formatCount(grid.count)} elements of each side …`}
        </p>
      )}
      {cells && (
        <>
          {grid.count > 1 && (
            <ThreePictures
              state={state}
              grid={grid}
              cells={cells}
              judged={judged}
              isLoading={isLoading}
              cursor={cursor}
              gestures={gestures}
            />
          )}
          <Readout state={state} shape={shape} cells={cells} judged={judged} cell={cellAt(cells, cursor)} />
          <div class="panels">
            {judged && <SlicePanel judged={judged} cells={cells} />}
            {grid.count > 1 && (
              <NearTable
                pair={pair}
                state={state}
                shape={shape}
                cells={cells}
                judged={judged}
                cursor={shownPlace(cells, cursor)}
              />
            )}
            <WorstPanel entry={entry} state={state} goTo={goTo} />
          </div>
          <Keys />
        </>
      )}
    </>
  )
}

/** Those of the server, or those that somebody tries. */
function useLimits(cells: Cells | null, tolerance: Limits | null): PairLimits | null {
  const base = cells?.slice.header.limits ?? null
  return useMemo(() => {
    if (!base || !tolerance) return base
    return { ...base, rtol: tolerance.rtol, constant: tolerance.atol, relL2: null, ulps: 0 }
  }, [base, tolerance?.rtol, tolerance?.atol])
}

/** The dimension that [ and ] step through. */
function steppedAxis(state: ViewState, shape: readonly number[], focused: number | null): number | null {
  const sliced = slicedAxes(state, shape)
  return focused !== null && sliced.includes(focused) ? focused : (sliced.at(-1) ?? null)
}

function lookAt(state: ViewState, shape: readonly number[], place: WorstPlace, isComplex: boolean): ViewState {
  const next = atIndex(state, isComplex ? [...place.index, worsePart(place)] : place.index)
  return { ...next, view: around(cursorCell(next, shape), pictureGrid(shape, next)) }
}

/** Opens at the worst place, and near it where a picture of all takes long; it comes with "show all". */
function firstLook(
  state: ViewState,
  shape: readonly number[],
  worst: readonly WorstPlace[],
  isComplex: boolean,
): ViewState {
  const place = worst.find(({ error }) => error !== 0)
  const next = place ? lookAt(state, shape, place, isComplex) : atIndex(state, state.index)
  const grid = pictureGrid(shape, next)
  return { ...next, view: grid.count > HUGE ? around(cursorCell(next, shape), grid, FIRST_CELLS) : null }
}

function SlicePanel({ judged, cells }: { readonly judged: Judged; readonly cells: Cells }) {
  const isPart = cells.slice.places.length > 0
  return (
    <section class="panel">
      <h2>errors in {isPart ? 'what is in sight' : 'this slice'}</h2>
      <Legend tally={judged.tally} isStale={judged.isStale} />
      <Histogram tally={judged.tally} limits={judged.limits} isStale={judged.isStale} />
    </section>
  )
}

interface WorstPanelProps extends Pick<TensorViewProps, 'entry' | 'state'> {
  goTo(place: WorstPlace): void
}

function WorstPanel({ entry, state, goTo }: WorstPanelProps) {
  if (entry instanceof Error) return null
  return (
    <section class="panel">
      <h2>worst places of the whole tensor</h2>
      {entry ? <WorstList result={entry.result} shown={state.index} show={goTo} /> : <p class="quiet">measuring …</p>}
    </section>
  )
}

function Keys() {
  return (
    <p class="keys quiet">
      <kbd>←↑↓→</kbd> cursor <kbd>[</kbd> <kbd>]</kbd> slice <kbd>n</kbd> <kbd>p</kbd> worst places <kbd>+</kbd>{' '}
      <kbd>−</kbd> or wheel: zoom
    </p>
  )
}
