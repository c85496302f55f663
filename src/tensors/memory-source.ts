import type { Tensor, TensorSource } from '../domain/tensor.ts'

/** A tensor in memory as a source, in chunks of at most `chunkBytes`. */
export function memorySource(name: string, tensor: Tensor, chunkBytes = 1 << 20): TensorSource {
  const { dtype, shape, bytes } = tensor
  return {
    name,
    dtype,
    shape,
    byteLength: bytes.byteLength,
    async *chunks() {
      for (let at = 0; at < bytes.byteLength; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes)
    },
  }
}
