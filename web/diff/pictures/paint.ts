import { isWorse } from '../../../src/compare/slice/classify.ts'
import type { CellWindow } from '../../../src/compare/slice/grid.ts'
import type { Range } from '../../../src/compare/slice/tally.ts'
import type { Cells } from './cells.ts'

/** Colours as the computer has them: alpha, blue, green, red. */
export interface Theme {
  readonly equal: number
  readonly nonFinite: number
  readonly nothing: number
  readonly within: readonly [number, number]
  readonly over: readonly [number, number]
}

/** Blue and orange of equal names are told apart by everyone; the worst of both is furthest from the ground. */
export const LIGHT: Theme = {
  equal: rgb(0xe6e8ea),
  nonFinite: rgb(0x000000),
  nothing: rgb(0xffffff),
  within: [0xbfe0f5, 0x3a8fd0],
  over: [0xf5a623, 0xb83200],
}

export const DARK: Theme = {
  equal: rgb(0x2a2e33),
  nonFinite: rgb(0xffffff),
  nothing: rgb(0x111315),
  within: [0x1d4e74, 0x56b4e9],
  over: [0xd2691e, 0xffc04d],
}

const VIRIDIS = [0x440154, 0x482878, 0x3e4989, 0x31688e, 0x26828e, 0x1f9e89, 0x35b779, 0x6ece58, 0xb5de2b, 0xfde725]
const STEPS = 256
/** NaN and infinities among values: a colour that no value has. */
const NO_VALUE = rgb(0xff00ff)
const VALUES = Uint32Array.from({ length: STEPS }, (_, i) => viridis(i / (STEPS - 1)))
/** The scale of errors ends at so many times the limit. */
const MOST_SEVERE = 1000

function rgb(code: number): number {
  return ((255 << 24) | ((code & 0xff) << 16) | (code & 0xff00) | (code >> 16)) >>> 0
}

function viridis(part: number): number {
  const at = part * (VIRIDIS.length - 1)
  const low = Math.min(Math.floor(at), VIRIDIS.length - 2)
  return mix(VIRIDIS[low]!, VIRIDIS[low + 1]!, at - low)
}

function mix(from: number, to: number, part: number): number {
  const channel = (shift: number) => {
    const [a, b] = [(from >> shift) & 0xff, (to >> shift) & 0xff]
    return Math.round(a + (b - a) * part) << shift
  }
  return rgb(channel(16) | channel(8) | channel(0))
}

/** The scale of values as CSS. */
export const VALUE_SCALE = `linear-gradient(to right, ${VIRIDIS.map((code) => `#${code.toString(16).padStart(6, '0')}`).join(', ')})`

/**
 * The cell that each pixel shows, −1 for none: of several the worst, so that no error is lost between two pixels.
 */
export function pickCells(
  cells: Cells,
  severities: Float64Array | null,
  view: CellWindow,
  width: number,
  height: number,
): Int32Array {
  const picked = new Int32Array(width * height).fill(-1)
  const across = spans(width, view.col, view.cols, cells.window.col, cells.colStep, cells.cols)
  const down = spans(height, view.row, view.rows, cells.window.row, cells.rowStep, cells.rows)
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      picked[y * width + x] = worstIn(cells, severities, down, y, across, x)
    }
  }
  return picked
}

/** First cell, and the one after the last, that each pixel covers. */
function spans(pixels: number, start: number, length: number, loaded: number, step: number, cells: number): Int32Array {
  const found = new Int32Array(pixels * 2)
  for (let pixel = 0; pixel < pixels; pixel++) {
    const from = Math.floor((start + (pixel * length) / pixels - loaded) / step)
    const to = Math.ceil((start + ((pixel + 1) * length) / pixels - loaded) / step)
    found[pixel * 2] = Math.max(0, from)
    // A cell larger than a pixel is the only one in it.
    found[pixel * 2 + 1] = Math.min(cells, length <= pixels * step ? from + 1 : to)
  }
  return found
}

function worstIn(
  { positions, cols }: Cells,
  severities: Float64Array | null,
  down: Int32Array,
  y: number,
  across: Int32Array,
  x: number,
): number {
  let worst = -1
  for (let row = down[y * 2]!; row < down[y * 2 + 1]!; row++) {
    for (let col = across[x * 2]!; col < across[x * 2 + 1]!; col++) {
      const cell = row * cols + col
      if (positions[cell]! < 0) continue
      if (worst < 0) worst = cell
      else if (severities && isWorse(severities[positions[cell]!]!, severities[positions[worst]!]!)) worst = cell
    }
  }
  return worst
}

type Paint = (position: number) => number

export function paint(image: ImageData, picked: Int32Array, { positions }: Cells, ground: number, colour: Paint): void {
  const pixels = new Uint32Array(image.data.buffer)
  for (let i = 0; i < pixels.length; i++) {
    const cell = picked[i]!
    pixels[i] = cell < 0 ? ground : colour(positions[cell]!)
  }
}

export function valueColours(numbers: Float64Array, range: Range | null): Paint {
  const least = range?.least ?? 0
  // Halves, because the whole of it may be more than a number holds.
  const half = range ? range.most / 2 - range.least / 2 : 0
  return (position) => {
    const value = numbers[position]!
    if (!Number.isFinite(value)) return NO_VALUE
    return VALUES[half > 0 ? Math.round(((value / 2 - least / 2) / half) * (STEPS - 1)) : STEPS / 2]!
  }
}

export function errorColours(severities: Float64Array, theme: Theme): Paint {
  const within = ramp(theme.within)
  const over = ramp(theme.over)
  return (position) => {
    const severity = severities[position]!
    if (severity === 0) return theme.equal
    if (severity <= 1) return within[Math.round(severity * (STEPS - 1))]!
    if (!(severity > 1)) return theme.nonFinite
    const part = Math.min(1, Math.log(severity) / Math.log(MOST_SEVERE))
    return over[Math.round(part * (STEPS - 1))]!
  }
}

function ramp([from, to]: readonly [number, number]): Uint32Array {
  return Uint32Array.from({ length: STEPS }, (_, i) => mix(from, to, i / (STEPS - 1)))
}
