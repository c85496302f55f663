import { heat, strength } from '../../compare/diff/heat.ts'
import type { Picture } from '../../compare/diff/picture.ts'
import { formatSlice } from '../../compare/slice/slice-index.ts'
import { formatNumber } from '../../domain/text.ts'
import type { Rgb, Style } from '../style.ts'

const SHADES = ' .:-=+*#%@'
const NOT_FINITE = '!'
const MARGIN = '  '
/** Small slices are drawn larger. */
const MOST_ENLARGED = 4

/** The errors of a slice as an image: half blocks in colours, or letters where there are none. */
export function pictureLines(picture: Picture, style: Style): string[] {
  const most = picture.error.reduce((largest, error) => (Number.isNaN(error) ? largest : Math.max(largest, error)), 0)
  if (most === 0 && !picture.error.some(Number.isNaN)) return []
  const lines = hasPixels(style)
    ? blocks(picture, most, style)
    : letters(picture, most, rowsPerLetter(picture, style), enlargement(picture, style))
  return [...lines, MARGIN + style.paint('dim', legend(picture, most, style))]
}

/** In words: which slice, what a cell is. */
export function pictureTitle(picture: Picture, style: Style): string {
  const { grid, cellRows, cellColumns } = picture
  const axes = grid.rowAxis === null ? `axis ${grid.colAxis}` : `axes ${grid.rowAxis} × ${grid.colAxis}`
  const rows = hasPixels(style) ? cellRows : cellRows * rowsPerLetter(picture, style)
  const cell = rows * cellColumns > 1 ? `, the largest of every ${rows} × ${cellColumns}` : ''
  return `|t − r| along ${axes} at ${formatSlice(grid.index)}${cell}`
}

function hasPixels({ coloured, ascii }: Style): boolean {
  return coloured && !ascii
}

function enlargement({ columns }: Picture, style: Style): number {
  return Math.max(1, Math.min(MOST_ENLARGED, Math.floor(Math.min(48, style.columns - 4) / columns)))
}

/** A letter is about twice as high as wide: two rows make a line, or two letters an element. */
function rowsPerLetter(picture: Picture, style: Style): number {
  return enlargement(picture, style) > 1 ? 1 : 2
}

function errorAt({ error, rows, columns }: Picture, row: number, column: number): number {
  return row < rows ? error[row * columns + column]! : 0
}

function blocks(picture: Picture, most: number, style: Style): string[] {
  const times = enlargement(picture, style)
  const pixel = (row: number, column: number): Rgb => heat(errorAt(picture, Math.floor(row / times), column), most)
  return Array.from({ length: Math.ceil((picture.rows * times) / 2) }, (_, line) => {
    const cells = Array.from({ length: picture.columns }, (_, column) =>
      style.pixels(pixel(2 * line, column), pixel(2 * line + 1, column)).repeat(times),
    )
    return MARGIN + cells.join('')
  })
}

function letters(picture: Picture, most: number, perLetter: number, times: number): string[] {
  return Array.from({ length: Math.ceil(picture.rows / perLetter) }, (_, line) => {
    const cells = Array.from({ length: picture.columns }, (_, column) => {
      const errors = Array.from({ length: perLetter }, (_, i) => errorAt(picture, line * perLetter + i, column))
      return letterOf(errors, most).repeat(Math.min(times, 2))
    })
    return `${MARGIN}|${cells.join('')}|`
  })
}

function letterOf(errors: readonly number[], most: number): string {
  if (errors.some(Number.isNaN)) return NOT_FINITE
  const error = Math.max(...errors)
  return error === 0 ? SHADES[0]! : SHADES[Math.max(1, Math.ceil(strength(error, most) * (SHADES.length - 1)))]!
}

function legend({ error }: Picture, most: number, style: Style): string {
  const hasOdd = error.some(Number.isNaN)
  const [none, some, all, odd] = hasPixels(style)
    ? ['black', '', 'white', 'cyan']
    : ['" "', `"${SHADES[1]}"`, `"${SHADES.at(-1)}"`, `"${NOT_FINITE}"`]
  const scale = most > 0 ? [`${some ? `${some} ` : ''}to ${formatNumber(most)} by square root: ${all}`] : []
  return [`${none} 0`, ...scale, ...(hasOdd ? [`${odd} not finite`] : [])].join(', ')
}
