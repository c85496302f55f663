import type { ElementReader } from '../../compare/diff/element-reader.ts'
import { DTYPES, type DType } from '../../domain/dtype.ts'
import type { TensorSource } from '../../domain/tensor.ts'
import { decodeNumbers } from '../../tensors/decode.ts'
import { type FilePart, openPart } from '../disk/file-part.ts'

/** How much to read at once in sequential reads, since a system call costs as much as many bytes. */
const AHEAD_BYTES = 1 << 19

/** The place, number and dtype of a tensor's bytes. */
export interface FileElements {
  readonly file: FilePart
  readonly dtype: DType
  readonly byteLength: number
}

/** Reads a tensor's numbers anywhere in its file; null if its bytes are not in a file unchanged. */
export function openSourceElements({ dtype, file, byteLength }: TensorSource): ElementReader | null {
  return file ? openFileElements({ dtype, file, byteLength }) : null
}

export function openFileElements({ dtype, file, byteLength }: FileElements): ElementReader {
  const part = openPart(file)
  const { bits } = DTYPES[dtype]
  let buffer = new Uint8Array(1 << 12)
  let [start, end, readUpTo] = [0, 0, -1]
  const fetch = (from: number, to: number) => {
    const wanted = from === readUpTo ? Math.min(byteLength, Math.max(to, from + AHEAD_BYTES)) : to
    if (wanted - from > buffer.length) buffer = new Uint8Array(wanted - from)
    part.fill(buffer.subarray(0, wanted - from), from)
    start = from
    end = wanted
  }
  return {
    read(first, count, out) {
      const from = Math.floor((first * bits) / 8)
      const to = Math.ceil(((first + count) * bits) / 8)
      if (from < start || to > end) fetch(from, to)
      readUpTo = to
      const bytes = buffer.subarray(from - start, to - start)
      decodeNumbers(dtype, bytes, first - (from * 8) / bits, count, out)
    },
    close: part.close,
  }
}
