import type { TensorSource } from '../../domain/tensor.ts'
import { loadBytes, type TensorBytes } from '../../tensors/tensor-bytes.ts'
import { type FilePart, openPart } from '../disk/file-part.ts'

/** Reads closer than this follow one another. */
const NEAR_BYTES = 1 << 12
/** Reads that follow one another fetch ever more ahead, since a system call costs as much as many bytes. */
const LEAST_AHEAD_BYTES = 1 << 12
const MOST_AHEAD_BYTES = 1 << 19

/** Opens a tensor's bytes in its file, or loads them if no file has them unchanged. */
export async function openBytes(source: TensorSource, load = loadBytes): Promise<TensorBytes> {
  return source.file ? openFileBytes(source.file, source.byteLength) : load(source)
}

/** Only what is read, and a little ahead, is fetched from the file. */
export function openFileBytes(file: FilePart, byteLength: number): TensorBytes {
  const part = openPart(file)
  let buffer = new Uint8Array(LEAST_AHEAD_BYTES)
  let [start, end, readUpTo] = [0, 0, Number.NEGATIVE_INFINITY]
  const fetch = (from: number, to: number) => {
    const isNear = from >= readUpTo && from - readUpTo <= NEAR_BYTES
    const ahead = isNear ? Math.min(MOST_AHEAD_BYTES, Math.max(LEAST_AHEAD_BYTES, 2 * (end - start))) : 0
    const upTo = Math.min(byteLength, from + ahead)
    const wanted = Math.max(to, upTo) - from
    if (wanted > buffer.length) buffer = new Uint8Array(wanted)
    part.fill(buffer.subarray(0, wanted), from)
    start = from
    end = from + wanted
  }
  return {
    read(offset, length) {
      const to = offset + length
      if (offset < start || to > end) fetch(offset, to)
      readUpTo = to
      return buffer.subarray(offset - start, to - start)
    },
    close: part.close,
  }
}
