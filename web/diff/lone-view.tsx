import { useMemo, useState } from 'preact/hooks'
import type { ShownPair, ShownTensor } from '../../src/compare/slice/contract.ts'
import { elementCount, formatShape } from '../../src/domain/tensor.ts'
import type { Side } from '../../src/domain/verdict.ts'
import { cellAt, shownPlace, valueRange } from './pictures/cells.ts'
import { DARK, LIGHT, pickCells, valueColours } from './pictures/paint.ts'
import { Picture } from './pictures/picture.tsx'
import { CanvasFrame, pixelSize, useWidth } from './pictures/pictures.tsx'
import { Scale } from './pictures/scales.tsx'
import { whole } from './pictures/viewport.ts'
import { Readout } from './readout.tsx'
import { SlicePicker } from './slice-picker.tsx'
import type { TensorViewProps } from './tensor-view.tsx'
import { useCells, useDark } from './use-diff.ts'
import { atIndex, type Cell, cursorCell, defaultState, indexAt, pictureGrid, type ViewState } from './view-state.ts'

const SIDES: readonly Side[] = ['reference', 'target']

/** Sides that cannot be laid over one another, each for itself. */
export function LoneView({ pair, state }: TensorViewProps) {
  return (
    <div class="pictures" id="sides">
      {SIDES.map((side) => {
        const tensor = pair[side]
        return (
          <section key={side} class="picture">
            <h2>
              {side} <span class="quiet">{tensor ? `${tensor.dtype} ${formatShape(tensor.shape)}` : ''}</span>
            </h2>
            <LoneSide pair={pair} side={side} tensor={tensor} number={state.pair} />
          </section>
        )
      })}
      <section class="picture">
        <h2>difference</h2>
        <p class="missing" id="no-difference">
          {whyNone(pair)}
        </p>
      </section>
    </div>
  )
}

function whyNone({ reference, target }: ShownPair): string {
  if (!reference || !target) return `There is no ${reference ? 'target' : 'reference'} to compare with.`
  const [r, t] = [elementCount(reference.shape), elementCount(target.shape)]
  const shapes = `The reference is ${formatShape(reference.shape)}, the target ${formatShape(target.shape)}`
  return r === t ? `${shapes}: as many elements in another shape.` : `${shapes}: ${r} elements and ${t}.`
}

interface LoneSideProps {
  readonly pair: ShownPair
  readonly side: Side
  readonly tensor: ShownTensor | null
  readonly number: number
}

function LoneSide({ pair, side, tensor, number }: LoneSideProps) {
  if (!tensor) return <p class="missing">not there</p>
  if (tensor.dtype === 'string') return <p class="missing">strings</p>
  if (elementCount(tensor.shape) === 0) return <p class="missing">no elements</p>
  return <LonePicture pair={pair} side={side} tensor={tensor} number={number} />
}

function LonePicture({ pair, side, tensor, number }: LoneSideProps & { readonly tensor: ShownTensor }) {
  const [state, setState] = useState<ViewState>(() => defaultState(number, tensor))
  const [hovered, setHovered] = useState<Cell | null>(null)
  const { ref, width } = useWidth()
  const theme = useDark() ? DARK : LIGHT
  const { cells, problem } = useCells(state, pair, side)
  const grid = pictureGrid(tensor.shape, state)
  const view = state.view ?? whole(grid)
  const size = pixelSize(width, grid)
  const range = useMemo(() => (cells ? valueRange(cells) : null), [cells])
  const colours = useMemo(() => (cells ? valueColours(cells.numbers[side]!, range) : null), [cells, range])
  const { pixelsWide, pixelsHigh } = size
  const picked = useMemo(
    () => (cells ? pickCells(cells, null, view, pixelsWide, pixelsHigh) : null),
    [cells, view.row, view.col, view.rows, view.cols, pixelsWide, pixelsHigh],
  )
  const cursor = hovered ?? cursorCell(state, tensor.shape)
  const point = (cell: Cell) => {
    const index = indexAt(state, tensor.shape, shownPlace(cells, cell))
    if (index) setState(atIndex(state, index))
  }
  const gestures = { hover: setHovered, point, look: (next: ViewState['view']) => setState({ ...state, view: next }) }
  const { isComplex, shape } = tensor
  return (
    <div ref={ref}>
      <SlicePicker
        state={state}
        shape={shape}
        isComplex={isComplex}
        worst={[]}
        stepped={null}
        change={setState}
        focus={() => {}}
      />
      {problem && <p class="problem">{problem}</p>}
      {cells && picked && colours && width > 0 && (
        <>
          <CanvasFrame view={view} size={grid} gestures={gestures}>
            <Picture
              id={side}
              label={side}
              cells={cells}
              picked={picked}
              view={view}
              size={size}
              theme={theme}
              colours={colours}
              cursor={cursor}
            />
          </CanvasFrame>
          <Scale range={range} numbers={cells.numbers[side]!} />
          <Readout state={state} shape={shape} cells={cells} judged={null} cell={cellAt(cells, cursor)} />
        </>
      )}
    </div>
  )
}
