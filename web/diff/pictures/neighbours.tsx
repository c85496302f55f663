import { classifySeverity } from '../../../src/compare/slice/classify.ts'
import type { CellWindow } from '../../../src/compare/slice/grid.ts'
import { elementText, shortPair } from '../format.ts'
import type { Cell } from '../view-state.ts'
import { type Cells, cellAt, type Judged } from './cells.ts'
import { MARKS } from './marks.ts'
import { type Size, within } from './viewport.ts'

/** The line above has them all. */
const MOST_DIGITS = 6
const TABLE: Size = { rows: 5, cols: 5 }

/** The elements around a cell. */
export function neighbourhood({ row, col }: Cell, size: Size): CellWindow {
  const [rows, cols] = [Math.min(TABLE.rows, size.rows), Math.min(TABLE.cols, size.cols)]
  return within({ row: row - Math.floor(rows / 2), col: col - Math.floor(cols / 2), rows, cols }, size)
}

export interface NeighboursProps {
  readonly cells: Cells
  readonly judged: Judged | null
  readonly window: CellWindow
  readonly cursor: Cell
  /** Elements in a row, where the picture is one dimension that is wrapped. */
  readonly wrap: number | null
}

/** Values around the cursor: the reference's above the target's. */
export function Neighbours({ cells, judged, window, cursor, wrap }: NeighboursProps) {
  const rows = Array.from({ length: window.rows }, (_, i) => window.row + i)
  const cols = Array.from({ length: window.cols }, (_, i) => window.col + i)
  return (
    <table class="neighbours" id="neighbours">
      <thead>
        <tr>
          <th />
          {cols.map((col) => (
            <th key={col} scope="col">
              {wrap === null ? col : `+${col - window.col}`}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row}>
            <th scope="row">{wrap === null ? row : row * wrap + window.col}</th>
            {cols.map((col) => (
              <Values
                key={col}
                cells={cells}
                judged={judged}
                cell={cellAt(cells, { row, col })}
                isCursor={row === cursor.row && col === cursor.col}
              />
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

interface ValuesProps {
  readonly cells: Cells
  readonly judged: Judged | null
  readonly cell: number | null
  readonly isCursor: boolean
}

function Values({ cells, judged, cell, isCursor }: ValuesProps) {
  if (cell === null) return <td />
  const position = cells.positions[cell]!
  const { reference, target } = cells.slice.raw
  const [r, t] = shortPair(elementText(reference, position), elementText(target, position), MOST_DIGITS)
  const mark = judged ? MARKS[classifySeverity(judged.severities[position]!)] : undefined
  return (
    <td class={`${mark?.style ?? ''} ${isCursor ? 'cursor' : ''}`}>
      {reference && <span>{r}</span>}
      {target && (
        <span>
          {mark && mark.style !== 'equal' && <i>{mark.sign}</i>}
          {t}
        </span>
      )}
    </td>
  )
}
