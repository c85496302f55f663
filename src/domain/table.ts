import { displayWidth, wrapText } from './text.ts'

interface TableColumn {
  readonly align?: 'right'
  /** Otherwise as wide as its widest cell. A cell that is wider sticks out. */
  readonly width?: number
}

interface TableLook {
  /** The last of them stands for all that follow. */
  readonly columns?: readonly TableColumn[]
  /** Blanks between columns. */
  readonly gap?: number
  /** Lines are at most so wide: the last column is wrapped. */
  readonly room?: number
}

/** Rows of as many cells each, painted or not, as lines; columns are aligned left and two blanks apart. */
export function tableLines(rows: readonly (readonly string[])[], look: TableLook = {}): string[] {
  const { gap = 2, room } = look
  const columns = sizedColumns(rows, look.columns ?? [])
  const line = (cells: readonly string[]) => cells.map((cell, i) => fill(cell, columns[i]!)).join(' '.repeat(gap))
  if (room === undefined) return rows.map((cells) => line(cells).trimEnd())
  const margin = columns.slice(0, -1).reduce((sum, { width }) => sum + width + gap, 0)
  return rows.flatMap((cells) => {
    const head = line(cells.slice(0, -1)) + ' '.repeat(gap)
    return besideHead(head, margin, wrapText(cells.at(-1)!, room - margin))
  })
}

/** A name, then figures. */
export const FIGURES: TableLook = { columns: [{}, { align: 'right' }] }

type SizedColumn = TableColumn & { readonly width: number }

function sizedColumns(rows: readonly (readonly string[])[], columns: readonly TableColumn[]): SizedColumn[] {
  return (rows[0] ?? []).map((_, i) => {
    const column = columns[i] ?? columns.at(-1) ?? {}
    const widest = () => rows.reduce((most, cells) => Math.max(most, displayWidth(cells[i]!)), 0)
    return { ...column, width: column.width ?? widest() }
  })
}

function fill(cell: string, { align, width }: SizedColumn): string {
  const blanks = ' '.repeat(Math.max(0, width - displayWidth(cell)))
  return align === 'right' ? blanks + cell : cell + blanks
}

/** A head that leaves no room beside it has a line of its own. */
function besideHead(head: string, margin: number, texts: readonly string[]): string[] {
  const isLong = displayWidth(head) > margin
  const lines = texts.map((text, i) => `${i === 0 && !isLong ? head : ' '.repeat(margin)}${text}`.trimEnd())
  return isLong ? [head.trimEnd(), ...lines] : lines
}
