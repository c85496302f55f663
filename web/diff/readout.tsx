import { allowance } from '../../src/compare/slice/classify.ts'
import { formatNumber } from '../../src/domain/text.ts'
import { describeSeverity, elementText, errorText, formatIndex } from './format.ts'
import { type Cells, findPlace, type Judged } from './pictures/cells.ts'
import { indexAt, type ViewState } from './view-state.ts'

export interface ReadoutProps {
  readonly state: ViewState
  readonly shape: readonly number[]
  readonly cells: Cells
  readonly judged: Judged | null
  /** null: the cursor is elsewhere. */
  readonly cell: number | null
}

/** One element in full: index, both values, error, what is allowed. */
export function Readout({ state, shape, cells, judged, cell }: ReadoutProps) {
  if (cell === null) return <p class="readout quiet">no element here</p>
  const position = cells.positions[cell]!
  const index = indexAt(state, shape, findPlace(cells, cell))
  const { raw } = cells.slice
  const r = cells.pairs?.reference[position]
  return (
    <dl class="readout" id="readout">
      <Field name="index" value={index ? formatIndex(index) : '–'} />
      {raw.reference && <Field name="reference" value={elementText(raw.reference, position)} />}
      {raw.target && <Field name="target" value={elementText(raw.target, position)} />}
      {judged && cells.pairs && r !== undefined && (
        <>
          <Field name="error" value={errorText(cells.slice, position, cells.pairs.difference[position]!)} />
          <Field name="allowed" value={Number.isFinite(r) ? formatNumber(allowance(judged.limits)(r)) : 'the same'} />
          <Field name="" value={describeSeverity(judged.severities[position]!)} />
        </>
      )}
      {cells.slice.places.length > 0 && (
        <Field name="" value={`the worst of ${cells.rowStep} × ${cells.colStep} elements`} />
      )}
    </dl>
  )
}

function Field({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <div>
      {name && <dt>{name}</dt>}
      <dd class={name || 'words'}>{value}</dd>
    </div>
  )
}
