import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { MOST_CELLS } from '../../src/compare/slice/blocks.ts'
import type { PairVerdict, ShownPair } from '../../src/compare/slice/contract.ts'
import { type CellWindow, layOutWrapped } from '../../src/compare/slice/grid.ts'
import type { Side } from '../../src/domain/verdict.ts'
import { fetchSlice, fetchVerdict } from './api.ts'
import { type Cells, layOut } from './pictures/cells.ts'
import { isTurned, type Limits, sliceIndex, type ViewState } from './view-state.ts'

/** Moves that follow one another faster than this ask the server once. */
const REST_MS = 60
const TYPING_MS = 250

export interface Loaded {
  readonly cells: Cells | null
  readonly problem: string | null
  readonly isLoading: boolean
}

/** The cells of one side, or of both, for what is in sight; none as long as that is not known. */
export function useCells(state: ViewState, pair: ShownPair, side: Side | null, isHeld = false): Loaded {
  const [loaded, setLoaded] = useState<Loaded>({ cells: null, problem: null, isLoading: true })
  const tensor = side === null ? pair.reference! : pair[side]!
  const wanted = windowFor(state, tensor.shape)
  const [index, turned] = [sliceIndex(state), isTurned(state)]
  const isCut = wanted !== null || isLarge(tensor.shape, state)
  const tolerance = isCut ? state.tolerance : null
  const wish = JSON.stringify({ pair: state.pair, side, index, turned, wanted, tolerance, isHeld })
  const isFirst = useRef(true)
  useEffect(() => {
    if (isHeld) return
    const leaving = new AbortController()
    const load = async () => {
      setLoaded((old) => ({ ...old, isLoading: true }))
      const slice = await fetchSlice({ pair: state.pair, side, index, window: wanted, tolerance }, pair, leaving.signal)
      setLoaded({ cells: layOut(slice, layOutWrapped(tensor.shape, index), turned), problem: null, isLoading: false })
    }
    const timer = setTimeout(() => load().catch(tell), isFirst.current ? 0 : REST_MS)
    isFirst.current = false
    const tell = (error: Error) => {
      if (!leaving.signal.aborted) setLoaded({ cells: null, problem: error.message, isLoading: false })
    }
    return () => {
      clearTimeout(timer)
      leaving.abort()
    }
  }, [wish])
  return loaded
}

function isLarge(shape: readonly number[], state: ViewState): boolean {
  const { rows, cols } = layOutWrapped(shape, sliceIndex(state))
  return rows > MOST_CELLS || cols > MOST_CELLS
}

/** The part to ask for, in the server's rows and columns; null: everything, which is all that small slices need. */
function windowFor(state: ViewState, shape: readonly number[]): CellWindow | null {
  const { view } = state
  if (view === null || !isLarge(shape, state)) return null
  if (!isTurned(state)) return view
  return { row: view.col, col: view.row, rows: view.cols, cols: view.rows }
}

export type Verdicts = ReadonlyMap<number, PairVerdict | Error>

/** Judges all pairs one after the other, the shown one first, as soon as there is time for it. */
export function useVerdicts(count: number, shown: number, tolerance: Limits | null, isReady: boolean): Verdicts {
  const [verdicts, setVerdicts] = useState<Verdicts>(new Map())
  const first = useRef(shown)
  first.current = shown
  const isFirst = useRef(true)
  useEffect(() => {
    if (!isReady) return
    const leaving = new AbortController()
    const done = new Map<number, PairVerdict | Error>()
    const work = async () => {
      while (done.size < count && !leaving.signal.aborted) {
        const next = nextPair(done, count, first.current)
        const found = await fetchVerdict(next, tolerance, leaving.signal).catch((error: Error) => error)
        if (leaving.signal.aborted) return
        done.set(next, found)
        setVerdicts(new Map(done))
      }
    }
    const timer = setTimeout(work, isFirst.current ? 0 : TYPING_MS)
    isFirst.current = false
    return () => {
      clearTimeout(timer)
      leaving.abort()
    }
  }, [count, tolerance?.rtol, tolerance?.atol, isReady])
  return verdicts
}

function nextPair(done: ReadonlyMap<number, unknown>, count: number, shown: number): number {
  if (!done.has(shown)) return shown
  return Array.from({ length: count }, (_, i) => i).find((pair) => !done.has(pair))!
}

/** Whether the reader likes it dark. */
export function useDark(): boolean {
  const query = useMemo(() => matchMedia('(prefers-color-scheme: dark)'), [])
  const [isDark, setDark] = useState(query.matches)
  useEffect(() => {
    const change = () => setDark(query.matches)
    query.addEventListener('change', change)
    return () => query.removeEventListener('change', change)
  }, [query])
  return isDark
}
