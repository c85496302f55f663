import type { ElementReader } from '../../compare/diff/element-reader.ts'
import { DTYPES, type DType } from '../../domain/dtype.ts'
import type { TensorSource } from '../../domain/tensor.ts'
import { decodeNumbers } from '../../tensors/decode.ts'
import { type FilePart, openPart } from '../disk/file-part.ts'

/** Who reads on where the last read ended gets so much at once: a call of the system costs as much as many bytes. */
const AHEAD_BYTES = 1 << 19

/** Where a tensor's bytes lie, how many they are and what they mean. */
export interface FileElements {
  readonly file: FilePart
  readonly dtype: DType
  readonly byteLength: number
}

/** Reads the numbers of a tensor anywhere in its file; null for one that does not lie in a file as it is. */
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
