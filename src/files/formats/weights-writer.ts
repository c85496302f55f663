import type { TensorSource } from '../../domain/tensor.ts'
import { openAtomic, writeAt } from '../disk/atomic.ts'
import { storedDType } from './trace-header.ts'

/** Writes weights as safetensors that PyTorch's loaders take; nothing is held whole. */
export async function writeWeights(path: string, weights: readonly TensorSource[]): Promise<number> {
  const header = headerOf(weights)
  const file = await openAtomic(path, { durable: false })
  try {
    let position = header.length
    await writeAt(file.handle, header, 0, path)
    for (const weight of weights) {
      for await (const bytes of weight.chunks()) {
        await writeAt(file.handle, bytes, position, path)
        position += bytes.length
      }
    }
    await file.commit()
    return position
  } catch (error) {
    await file.abort()
    throw error
  }
}

/** The length in eight bytes, then the JSON. transformers requires `format: pt`. */
function headerOf(weights: readonly TensorSource[]): Uint8Array {
  let start = 0
  const entries = weights.map(({ name, dtype, shape, byteLength }) => {
    const entry = { dtype: storedDType(dtype), shape, data_offsets: [start, start + byteLength] }
    start += byteLength
    return [name, entry] as const
  })
  const json = JSON.stringify({ __metadata__: { format: 'pt' }, ...Object.fromEntries(entries) })
  const text = new TextEncoder().encode(json.padEnd(Math.ceil(json.length / 8) * 8))
  const header = new Uint8Array(8 + text.length)
  new DataView(header.buffer).setBigUint64(0, BigInt(text.length), true)
  header.set(text, 8)
  return header
}
