import { setImmediate } from 'node:timers/promises'
import type { PairLimits } from '../../compare/pairs/pair-statistics.ts'
import { type Blocks, cutBlocks, MOST_CELLS, worstOfBlocks } from '../../compare/slice/blocks.ts'
import { decodePairs, roomFor } from '../../compare/slice/classify.ts'
import { type CellWindow, cellCount, type Grid } from '../../compare/slice/grid.ts'
import { Tallier, type Tally } from '../../compare/slice/tally.ts'
import { DTYPES, type DType } from '../../domain/dtype.ts'
import { decodeNumbers } from '../../tensors/decode.ts'
import { joinBytes } from '../../tensors/join-bytes.ts'
import type { SliceReader } from './tensor-slice.ts'

/** Elements that are looked at in one go. */
const TURN_ELEMENTS = 1 << 18

interface SliceSide {
  readonly dtype: DType
  readonly reader: SliceReader
}

/** The sides that there are, reference first; limits where there are two. */
export interface SliceTask {
  readonly sides: readonly SliceSide[]
  readonly grid: Grid
  readonly limits: PairLimits | null
  readonly signal?: AbortSignal
}

export interface SliceCells {
  readonly blocks: Blocks
  /** Raw elements of each side. */
  readonly bytes: readonly Uint8Array[]
  /** Which place of its block each cell is; null where every cell is one element. */
  readonly places: Uint32Array | null
  readonly tally: Tally | null
}

/** The cells of a window: its elements, or of each block the worst one where there are too many. */
export async function readCells(task: SliceTask, window: CellWindow, mostCells = MOST_CELLS): Promise<SliceCells> {
  const blocks = cutBlocks(window, mostCells)
  if (blocks.rowStep > 1 || blocks.colStep > 1) return readWorst(task, blocks)
  return { blocks, bytes: task.sides.map(({ reader }) => reader.read(window)), places: null, tally: null }
}

async function readWorst(task: SliceTask, blocks: Blocks): Promise<SliceCells> {
  const { sides, grid, limits, signal } = task
  const tallier = limits === null ? null : new Tallier(limits)
  const judge = tallier ? pairJudge(sides, tallier) : loneJudge(sides[0]!)
  const picked: Uint8Array[][] = sides.map(() => [])
  const places: Uint32Array[] = []
  for (const part of partsOf(blocks)) {
    const bytes = sides.map(({ reader }) => reader.read(part))
    const found = worstOfBlocks(judge(bytes, cellCount(grid, part)), grid, part, blocks.colStep)
    for (const [i, { dtype }] of sides.entries()) picked[i]!.push(pick(dtype, bytes[i]!, found.elements))
    places.push(found.places)
    await setImmediate()
    signal?.throwIfAborted()
  }
  const bytes = picked.map((codes, i) => pack(sides[i]!.dtype, joinBytes(codes)))
  return { blocks, bytes, places: joinPlaces(places), tally: tallier?.result() ?? null }
}

/** Rows of blocks, and parts of these where they are long. */
function* partsOf({ window, rowStep, colStep }: Blocks): Generator<CellWindow> {
  const width = Math.max(1, Math.floor(TURN_ELEMENTS / rowStep / colStep)) * colStep
  for (let row = 0; row < window.rows; row += rowStep) {
    const rows = Math.min(rowStep, window.rows - row)
    for (let col = 0; col < window.cols; col += width) {
      yield { row: window.row + row, col: window.col + col, rows, cols: Math.min(width, window.cols - col) }
    }
  }
}

/** Gives the severities of a part's elements, valid until the next call. */
type Judge = (bytes: readonly Uint8Array[], count: number) => Float64Array

function pairJudge([reference, target]: readonly SliceSide[], tallier: Tallier): Judge {
  let [room, severities] = [roomFor(0), new Float64Array(0)]
  return (bytes, count) => {
    if (severities.length < count) [room, severities] = [roomFor(count), new Float64Array(count)]
    const raw = [reference!, target!].map(({ dtype }, i) => ({ dtype, bytes: bytes[i]! }))
    return tallier.add(decodePairs(raw[0]!, raw[1]!, count, room), severities)
  }
}

/** Of a lone side the largest magnitudes count, and NaN most. */
function loneJudge({ dtype }: SliceSide): Judge {
  return ([bytes], count) => {
    const numbers = new Float64Array(count)
    decodeNumbers(dtype, bytes!, 0, count, numbers)
    return numbers.map(Math.abs)
  }
}

/** The raw elements at these positions; of several in a byte each gets a byte of its own. */
function pick(dtype: DType, bytes: Uint8Array, positions: Uint32Array): Uint8Array {
  const { bits } = DTYPES[dtype]
  if (bits < 8) return Uint8Array.from(positions, (position) => codeAt(bytes, position, bits))
  const size = bits / 8
  const out = new Uint8Array(positions.length * size)
  for (let i = 0, to = 0; i < positions.length; i++) {
    for (let at = positions[i]! * size; at < (positions[i]! + 1) * size; at++) out[to++] = bytes[at]!
  }
  return out
}

function codeAt(bytes: Uint8Array, position: number, bits: number): number {
  const perByte = 8 / bits
  return (bytes[Math.floor(position / perByte)]! >> ((position % perByte) * bits)) & ((1 << bits) - 1)
}

function pack(dtype: DType, codes: Uint8Array): Uint8Array {
  const { bits } = DTYPES[dtype]
  if (bits >= 8) return codes
  const perByte = 8 / bits
  const out = new Uint8Array(Math.ceil(codes.length / perByte))
  for (let i = 0; i < codes.length; i++) out[Math.floor(i / perByte)]! |= codes[i]! << ((i % perByte) * bits)
  return out
}

function joinPlaces(parts: readonly Uint32Array[]): Uint32Array {
  const bytes = joinBytes(parts.map(({ buffer }) => new Uint8Array(buffer)))
  return new Uint32Array(bytes.buffer)
}
