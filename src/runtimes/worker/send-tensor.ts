import type { TensorSink, TensorSource } from '../../domain/tensor.ts'

/** All of a tensor that can be read, chunk by chunk; an empty one is one empty chunk. */
export async function sendTensor(source: TensorSource, sink: TensorSink): Promise<void> {
  const { name, dtype, shape, byteLength } = source
  let offset = 0
  for await (const bytes of source.chunks()) {
    if (bytes.length === 0) continue
    await sink({ name, dtype, shape, offset, last: offset + bytes.length === byteLength, bytes })
    offset += bytes.length
  }
  if (byteLength === 0) await sink({ name, dtype, shape, offset: 0, last: true, bytes: new Uint8Array(0) })
}
