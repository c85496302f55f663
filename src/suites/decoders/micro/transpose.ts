import { DTYPES } from '../../../domain/dtype.ts'
import type { Tensor } from '../../../domain/tensor.ts'

/** Small enough for rows and columns of a block to stay in the cache together. */
const BLOCK = 32

/** A matrix of 16- or 32-bit elements with rows and columns exchanged. */
export function transpose({ dtype, shape, bytes }: Tensor): Tensor {
  const [rows = 0, columns = 0] = shape
  const count = rows * columns
  const isHalf = DTYPES[dtype].bits === 16
  const { buffer, byteOffset } = bytes
  const from = isHalf ? new Uint16Array(buffer, byteOffset, count) : new Uint32Array(buffer, byteOffset, count)
  const to = isHalf ? new Uint16Array(count) : new Uint32Array(count)
  for (let top = 0; top < rows; top += BLOCK) {
    for (let left = 0; left < columns; left += BLOCK) {
      const [bottom, right] = [Math.min(rows, top + BLOCK), Math.min(columns, left + BLOCK)]
      for (let i = top; i < bottom; i++) {
        for (let j = left; j < right; j++) to[j * rows + i] = from[i * columns + j]!
      }
    }
  }
  return { dtype, shape: [columns, rows], bytes: new Uint8Array(to.buffer) }
}
