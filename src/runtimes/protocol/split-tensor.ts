import type { TensorChunk, TensorSpec } from '../../domain/tensor.ts'

/** Large enough to be fast, small enough to stay in the processor's cache on the way. */
export const CHUNK_BYTES = 2 ** 20

/** Chunks of one tensor that lies in memory; an empty tensor is one empty chunk. */
export function* splitTensor(spec: TensorSpec, bytes: Uint8Array, chunkBytes = CHUNK_BYTES): Generator<TensorChunk> {
  const { name, dtype, shape } = spec
  let offset = 0
  do {
    const part = bytes.subarray(offset, offset + chunkBytes)
    const last = offset + part.length === bytes.length
    yield { name, dtype, shape, offset, last, bytes: part }
    offset += part.length
  } while (offset < bytes.length)
}
