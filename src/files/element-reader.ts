import type { ElementReader } from '../compare/diff/element-reader.ts'
import { DTYPES, type DType } from '../domain/dtype.ts'
import type { TensorSource } from '../domain/tensor.ts'
import { decodeNumbers } from '../tensors/decode.ts'
import { type FilePart, openPart } from './file-part.ts'

const ROOM_BYTES = 1 << 16

/** Reads the numbers of a tensor anywhere in its file; null for one that does not lie in a file as it is. */
export function openSourceElements({ dtype, file }: TensorSource): ElementReader | null {
  return file ? openFileElements({ dtype, file }) : null
}

export function openFileElements({ dtype, file }: { dtype: DType; file: FilePart }): ElementReader {
  const part = openPart(file)
  const { bits } = DTYPES[dtype]
  let buffer = new Uint8Array(ROOM_BYTES)
  return {
    read(first, count, out) {
      const firstByte = Math.floor((first * bits) / 8)
      const byteLength = Math.ceil(((first + count) * bits) / 8) - firstByte
      if (byteLength > buffer.length) buffer = new Uint8Array(byteLength)
      const bytes = buffer.subarray(0, byteLength)
      part.fill(bytes, firstByte)
      decodeNumbers(dtype, bytes, first - (firstByte * 8) / bits, count, out)
    },
    close: part.close,
  }
}
