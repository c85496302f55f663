import { displayWidth } from '../domain/text.ts'

/** Columns as wide as their widest cell, two blanks between, all but the first aligned right. */
export function alignRows(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => displayWidth(row[column]!))))
  const fill = (cell: string, column: number) => ' '.repeat(widths[column]! - displayWidth(cell))
  return rows.map((row) => row.map((cell, i) => (i === 0 ? cell + fill(cell, i) : fill(cell, i) + cell)).join('  '))
}
