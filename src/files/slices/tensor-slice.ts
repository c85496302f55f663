import { type CellWindow, cellCount, cellsInRow, elementAt, type Grid } from '../../compare/slice/grid.ts'
import { DTYPES, type DType } from '../../domain/dtype.ts'
import { FormatError } from '../../domain/errors.ts'
import type { TensorSource } from '../../domain/tensor.ts'
import { loadBytes, type TensorBytes } from '../../tensors/tensor-bytes.ts'
import { openBytes } from './open-bytes.ts'

export interface SliceReader {
  /** The elements of a window that are there, row after row, packed as in a tensor of their own; valid until the next call. */
  read(window: CellWindow): Uint8Array
  close(): void
}

/** Opens a slice of a tensor for reading; only what is asked for is read from its file. */
export async function openSlice(source: TensorSource, grid: Grid): Promise<SliceReader> {
  const { dtype } = source
  if (dtype === 'string') {
    throw new FormatError('string-slice', `tensor "${source.name}" holds strings, which have no slices of numbers`)
  }
  const bytes = await openBytes(source, loadOnce)
  return { read: (window) => readWindow(dtype, bytes, grid, window), close: bytes.close }
}

/** A page asks for many slices of one tensor. */
const loaded = new WeakMap<TensorSource, Promise<TensorBytes>>()

function loadOnce(source: TensorSource): Promise<TensorBytes> {
  const loading = loaded.get(source) ?? loadBytes(source)
  loaded.set(source, loading)
  return loading
}

function readWindow(dtype: DType, bytes: TensorBytes, grid: Grid, window: CellWindow): Uint8Array {
  const { bits } = DTYPES[dtype]
  const byteLength = Math.ceil((cellCount(grid, window) * bits) / 8)
  const isDense = grid.colStride === 1 && (grid.rowStride === window.cols || window.rows === 1)
  if (isDense && bits >= 8) return bytes.read((elementAt(grid, window.row, window.col) * bits) / 8, byteLength)
  const out = new Uint8Array(byteLength)
  const copy = bits < 8 ? copyCodes : copyBytes
  for (let row = window.row, done = 0; row < window.row + window.rows; row++) {
    const length = cellsInRow(grid, row, window)
    copy(bits, bytes, elementAt(grid, row, window.col), grid.colStride, length, out, done)
    done += length
  }
  return out
}

type Copy = (
  bits: number,
  bytes: TensorBytes,
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
    out.set(bytes.read(first * size, count * size), done * size)
    return
  }
  for (let i = 0, to = done * size; i < count; i++) {
    const element = bytes.read((first + i * stride) * size, size)
    for (let at = 0; at < size; at++) out[to++] = element[at]!
  }
}

/** Several elements in a byte, the first in its low bits. */
const copyCodes: Copy = (bits, bytes, first, stride, count, out, done) => {
  const perByte = 8 / bits
  const mask = (1 << bits) - 1
  for (let i = 0; i < count; i++) {
    const [from, to] = [first + i * stride, done + i]
    const [byte] = bytes.read(Math.floor(from / perByte), 1)
    const code = (byte! >> ((from % perByte) * bits)) & mask
    out[Math.floor(to / perByte)]! |= code << ((to % perByte) * bits)
  }
}
