import type { TensorSource } from '../domain/tensor.ts'

/** All bytes of a tensor at once; for those that are known to be small enough. */
export async function readWhole(source: TensorSource): Promise<Uint8Array> {
  const bytes = new Uint8Array(source.byteLength)
  let at = 0
  for await (const chunk of source.chunks()) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}
