import { withElements } from '../../compare/diff/element-reader.ts'
import { heat } from '../../compare/diff/heat.ts'
import { type Picture, readPicture } from '../../compare/diff/picture.ts'
import type { Grid } from '../../compare/slice/grid.ts'
import type { TensorSource } from '../../domain/tensor.ts'
import { viewAsReal } from '../../tensors/view-as-real.ts'
import { writeFileAtomic } from '../disk/atomic.ts'
import { encodePng } from '../formats/png.ts'
import { openBytes } from './open-bytes.ts'

const PANEL = { rows: 768, columns: 768 }
const GAP = 8
/** Small slices are drawn with larger pixels. */
const LEAST_SIDE = 256

/** The scale of an image's shades. */
export interface PngScale {
  /** The values shown as black and white in reference and target. */
  readonly low: number
  readonly high: number
  /** The error shown brightest in the difference. */
  readonly most: number
  readonly width: number
  readonly height: number
}

/** Writes a slice as an image: reference, target and difference side by side. */
export async function writeDiffPng(
  path: string,
  reference: TensorSource,
  target: TensorSource,
  grid: Grid,
): Promise<PngScale> {
  const picture = await withElements(viewAsReal(reference), viewAsReal(target), openBytes, (pair) =>
    readPicture(pair, grid, PANEL),
  )
  const values = [...picture.reference, ...picture.target].filter(Number.isFinite)
  const low = values.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY)
  const high = values.reduce((largest, value) => Math.max(largest, value), Number.NEGATIVE_INFINITY)
  const most = picture.error.filter(Number.isFinite).reduce((largest, error) => Math.max(largest, error), 0)
  const canvas = new Canvas(picture)
  canvas.draw(0, (cell) => grey(picture.reference[cell]!, low, high))
  canvas.draw(1, (cell) => grey(picture.target[cell]!, low, high))
  canvas.draw(2, (cell) => heat(picture.error[cell]!, most))
  await writeFileAtomic(path, encodePng(canvas.width, canvas.height, canvas.pixels))
  return { low, high, most, width: canvas.width, height: canvas.height }
}

type Colour = readonly [number, number, number]

function grey(value: number, low: number, high: number): Colour {
  if (!Number.isFinite(value)) return [0, 220, 220]
  const shade = high > low ? Math.round(((value - low) / (high - low)) * 255) : 128
  return [shade, shade, shade]
}

class Canvas {
  readonly width: number
  readonly height: number
  readonly pixels: Uint8Array
  readonly #picture: Picture
  readonly #times: number

  constructor(picture: Picture) {
    this.#picture = picture
    this.#times = Math.max(1, Math.floor(LEAST_SIDE / Math.max(picture.rows, picture.columns)))
    this.width = picture.columns * this.#times * 3 + GAP * 2
    this.height = picture.rows * this.#times
    this.pixels = new Uint8Array(this.width * this.height * 3).fill(255)
  }

  draw(panel: number, colourOf: (cell: number) => Colour): void {
    const { rows, columns } = this.#picture
    const times = this.#times
    const left = panel * (columns * times + GAP)
    for (let y = 0; y < rows * times; y++) {
      for (let x = 0; x < columns * times; x++) {
        const cell = Math.floor(y / times) * columns + Math.floor(x / times)
        this.pixels.set(colourOf(cell), (y * this.width + left + x) * 3)
      }
    }
  }
}
