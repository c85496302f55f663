import { type CellWindow, cellCount, cellsInRow, type Grid } from '../../compare/slice/grid.ts'
import { DTYPES, type DType } from '../../domain/dtype.ts'
import { FormatError } from '../../domain/errors.ts'
import type { TensorSource } from '../../domain/tensor.ts'
import { readWhole } from '../../tensors/read-whole.ts'
import { openPart } from '../disk/file-part.ts'

/** Parts closer than this are read together. */
const NEAR_BYTES = 4096
const AHEAD_BYTES = 1 << 20
/** Loaded whole only if its bytes are not in a file unchanged. */
const MAX_HELD_BYTES = 2 ** 30

export interface SliceReader {
  /** The elements of a window that are there, row after row, packed as in a tensor of their own. */
  read(window: CellWindow): Uint8Array
  close(): void
}

/** Opens a slice of a tensor for reading; only what is asked for is read from its file. */
export async function openSlice(source: TensorSource, grid: Grid): Promise<SliceReader> {
  const { dtype } = source
  if (dtype === 'string') {
    throw new FormatError('string-slice', `tensor "${source.name}" holds strings, which have no slices of numbers`)
  }
  const bytes = source.file ? fileBytes(source, source.file) : await heldBytes(source)
  return { read: (window) => readWindow(dtype, bytes, grid, window), close: bytes.close }
}

interface Bytes {
  fill(out: Uint8Array, offset: number): void
  /** Bytes from `offset` on, valid until the next call; `ahead`: the next call will want what follows soon after. */
  at(offset: number, byteLength: number, ahead: boolean): Uint8Array
  close(): void
}

function fileBytes(source: TensorSource, file: { path: string; start: number }): Bytes {
  const part = openPart(file)
  let [buffer, start] = [new Uint8Array(0), 0]
  return {
    fill: part.fill,
    at(offset, byteLength, ahead) {
      if (offset < start || offset + byteLength > start + buffer.length) {
        const wanted = ahead ? Math.max(byteLength, AHEAD_BYTES) : byteLength
        buffer = new Uint8Array(Math.min(wanted, source.byteLength - offset))
        part.fill(buffer, offset)
        start = offset
      }
      return buffer.subarray(offset - start, offset - start + byteLength)
    },
    close: part.close,
  }
}

const held = new WeakMap<TensorSource, Promise<Uint8Array>>()

async function heldBytes(source: TensorSource): Promise<Bytes> {
  if (source.byteLength > MAX_HELD_BYTES) {
    const found = `tensor "${source.name}" has ${source.byteLength} bytes that are stored in another order`
    throw new FormatError('slice', `${found}, at most ${MAX_HELD_BYTES} can be reordered; save it as safetensors`)
  }
  const reading = held.get(source) ?? readWhole(source)
  held.set(source, reading)
  const bytes = await reading
  const at = (offset: number, byteLength: number) => bytes.subarray(offset, offset + byteLength)
  return { at, fill: (out, offset) => out.set(at(offset, out.length)), close: () => {} }
}

function readWindow(dtype: DType, bytes: Bytes, grid: Grid, window: CellWindow): Uint8Array {
  const { bits } = DTYPES[dtype]
  const elements = cellCount(grid, window)
  const out = new Uint8Array(Math.ceil((elements * bits) / 8))
  const isDense = grid.colStride === 1 && (grid.rowStride === window.cols || window.rows === 1)
  if (isDense && bits >= 8) {
    bytes.fill(out, (elementAt(grid, window.row, window.col) * bits) / 8)
    return out
  }
  const copy = bits < 8 ? copyCodes : copyBytes
  for (let row = window.row, done = 0; row < window.row + window.rows; row++) {
    const length = cellsInRow(grid, row, window)
    copy(bits, bytes, elementAt(grid, row, window.col), grid.colStride, length, out, done)
    done += length
  }
  return out
}

function elementAt({ first, rowStride, colStride }: Grid, row: number, col: number): number {
  return first + row * rowStride + col * colStride
}

type Copy = (
  bits: number,
  bytes: Bytes,
  first: number,
  stride: number,
  count: number,
  out: Uint8Array,
  done: number,
) => void

/** Whole bytes per element. */
const copyBytes: Copy = (bits, bytes, first, stride, count, out, done) => {
  const size = bits / 8
  if (stride === 1) {
    out.set(bytes.at(first * size, count * size, count * size < NEAR_BYTES), done * size)
    return
  }
  const isNear = stride * size <= NEAR_BYTES
  for (let i = 0, to = done * size; i < count; i++) {
    const element = bytes.at((first + i * stride) * size, size, isNear)
    for (let at = 0; at < size; at++) out[to++] = element[at]!
  }
}

/** Several elements in a byte, the first in its low bits. */
const copyCodes: Copy = (bits, bytes, first, stride, count, out, done) => {
  const perByte = 8 / bits
  const mask = (1 << bits) - 1
  const isNear = stride / perByte <= NEAR_BYTES
  for (let i = 0; i < count; i++) {
    const [from, to] = [first + i * stride, done + i]
    const [byte] = bytes.at(Math.floor(from / perByte), 1, isNear)
    const code = (byte! >> ((from % perByte) * bits)) & mask
    out[Math.floor(to / perByte)]! |= code << ((to % perByte) * bits)
  }
}
