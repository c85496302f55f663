import { useState } from 'preact/hooks'
import type { ShownPair, ShownTensor } from '../../src/compare/slice/contract.ts'
import { elementCount, formatShape } from '../../src/domain/tensor.ts'
import type { Side } from '../../src/domain/verdict.ts'
import { type Cells, cellAt } from './pictures/cells.ts'
import { useWidth } from './pictures/pictures.tsx'
import { SidePicture, useDrawing } from './pictures/side-picture.tsx'
import { Readout } from './readout.tsx'
import { SlicePicker } from './slice-picker.tsx'
import type { TensorViewProps } from './tensor-view.tsx'
import { useCursor } from './use-cursor.ts'
import { useCells } from './use-diff.ts'
import { defaultState, pictureGrid, type ViewState } from './view-state.ts'

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
  const { shape, isComplex } = tensor
  const [state, setState] = useState<ViewState>(() => defaultState(number, tensor))
  const { cells, problem } = useCells(state, pair, side)
  return (
    <>
      <SlicePicker state={state} shape={shape} isComplex={isComplex} change={setState} />
      {problem && <p class="problem">{problem}</p>}
      {cells && <LoneCells side={side} state={state} shape={shape} cells={cells} change={setState} />}
    </>
  )
}

interface LoneCellsProps {
  readonly side: Side
  readonly state: ViewState
  readonly shape: readonly number[]
  readonly cells: Cells
  change(state: ViewState): void
}

function LoneCells({ side, state, shape, cells, change }: LoneCellsProps) {
  const { ref, width } = useWidth()
  const { cursor, gestures } = useCursor(state, shape, cells, change)
  const grid = pictureGrid(shape, state)
  const drawing = useDrawing(cells, null, state.view, grid, width)
  return (
    <div ref={ref}>
      {width > 0 && <SidePicture side={side} drawing={drawing} grid={grid} cursor={cursor} gestures={gestures} />}
      <Readout state={state} shape={shape} cells={cells} judged={null} cell={cellAt(cells, cursor)} />
    </div>
  )
}
