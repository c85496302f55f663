import type { Tensor, TensorChunk, TensorSink } from '../domain/tensor.ts'
import { joinBytes } from './join-bytes.ts'

/** A sink that gives whole tensors, each as soon as it is; they may be kept. */
export function sinkWhole(take: (name: string, tensor: Tensor) => Promise<void>): TensorSink {
  let parts: Uint8Array[] = []
  return async (chunk) => {
    parts.push(keptBytes(chunk))
    if (!chunk.last) return
    const { name, dtype, shape } = chunk
    const bytes = parts.length === 1 ? parts[0]! : joinBytes(parts)
    parts = []
    await take(name, { dtype, shape, bytes })
  }
}

/** Memory that a tensor has for itself is not used again by whoever gave it. */
function keptBytes({ bytes }: TensorChunk): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes)
}
