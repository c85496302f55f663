import { elementCount } from '../../domain/tensor.ts'
import type { ElementReader, OpenPair } from './element-reader.ts'
import type { MemoryOrder } from './memory-orders.ts'
import { Residual } from './residual.ts'

/** The elements of a tile, for both sides. */
const TILE = 1 << 16
const SIDE = 256

interface Axis {
  readonly size: number
  /** Elements from one index to the next, in both tensors. */
  readonly target: number
  readonly reference: number
}

/** Measures on all elements, tile by tile, how far the target is from the reference with reordered axes. */
export function measureOrder(pair: OpenPair, order: MemoryOrder): Residual {
  const axes = mergedAxes(order)
  const residual = new Residual()
  const inner = axes.at(-1)!
  // Numbers that stay side by side are moved together.
  const run = inner.reference === 1 ? inner.size : 1
  const tiled = inner.reference === 1 ? axes.slice(0, -1) : axes
  const columns = tiled.at(-1)!
  const rows = tiled.find((axis) => axis !== columns && axis.reference === run) ?? { size: 1, target: 0, reference: 0 }
  const outer = tiled.filter((axis) => axis !== rows && axis !== columns)
  for (let at = 0; at < run; at += TILE) {
    const tile = new TileReader(pair, rows, columns, Math.min(TILE, run - at), Math.floor(TILE / run))
    for (const [target, reference] of places(outer)) tile.addAll(target + at, reference + at, residual)
  }
  return residual
}

/** Merges axes that are neighbours both in the result and in the tensor. */
function mergedAxes({ shape, strides }: MemoryOrder): Axis[] {
  const axes: Axis[] = []
  for (let k = shape.length - 1; k >= 0; k--) {
    const axis = { size: shape[k]!, target: elementCount(shape.slice(k + 1)), reference: strides[k]! }
    const next = axes[0]
    if (axis.size === 1) continue
    if (next && axis.reference === next.reference * next.size) axes[0] = { ...next, size: axis.size * next.size }
    else axes.unshift(axis)
  }
  return axes
}

/** The first places, in both tensors, of everything the axes enumerate. */
function* places(axes: readonly Axis[]): Generator<readonly [target: number, reference: number]> {
  const [axis, ...rest] = axes
  if (!axis) return yield [0, 0]
  for (let i = 0; i < axis.size; i++) {
    for (const [target, reference] of places(rest)) yield [target + i * axis.target, reference + i * axis.reference]
  }
}

/** Reads tiles whose rows are columns in the reference. */
class TileReader {
  readonly #pair: OpenPair
  readonly #rows: Axis
  readonly #columns: Axis
  readonly #run: number
  readonly #height: number
  readonly #width: number

  constructor(pair: OpenPair, rows: Axis, columns: Axis, run: number, runsPerTile: number) {
    this.#pair = pair
    this.#rows = rows
    this.#columns = columns
    this.#run = run
    const room = Math.max(1, runsPerTile)
    const height = Math.min(rows.size, SIDE, room)
    this.#width = Math.min(columns.size, Math.max(1, Math.floor(room / height)))
    this.#height = Math.min(rows.size, Math.max(1, Math.floor(room / this.#width)))
  }

  addAll(target: number, reference: number, residual: Residual): void {
    for (let row = 0; row < this.#rows.size; row += this.#height) {
      for (let column = 0; column < this.#columns.size; column += this.#width) {
        const height = Math.min(this.#height, this.#rows.size - row)
        const width = Math.min(this.#width, this.#columns.size - column)
        const t = target + row * this.#rows.target + column * this.#columns.target
        const r = reference + row * this.#rows.reference + column * this.#columns.reference
        this.#add(t, r, height, width, residual)
      }
    }
  }

  #add(t: number, r: number, height: number, width: number, residual: Residual): void {
    const run = this.#run
    const target = readRuns(this.#pair.target, t, height, this.#rows.target, width * run)
    const crossed = readRuns(this.#pair.reference, r, width, this.#columns.reference, height * run)
    const reference = new Float64Array(crossed.length)
    for (let row = 0, at = 0; row < height; row++) {
      for (let column = 0; column < width; column++) {
        const from = (column * height + row) * run
        for (let i = 0; i < run; i++) reference[at++] = crossed[from + i]!
      }
    }
    residual.add(target, reference)
  }
}

/** `count` runs of `length` elements, `stride` apart; at once where they follow each other. */
function readRuns(reader: ElementReader, first: number, count: number, stride: number, length: number): Float64Array {
  const numbers = new Float64Array(count * length)
  if (stride === length || count === 1) {
    reader.read(first, count * length, numbers)
    return numbers
  }
  for (let i = 0; i < count; i++) reader.read(first + i * stride, length, numbers.subarray(i * length))
  return numbers
}
