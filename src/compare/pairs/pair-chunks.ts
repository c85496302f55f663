import { DTYPES, type DType } from '../../domain/dtype.ts'
import { elementCount, type TensorSource } from '../../domain/tensor.ts'
import { CHUNK } from '../kernels/layout.ts'
import { ByteReader } from './byte-reader.ts'

/** The same stretch of both tensors; except the last, a multiple of four elements, so each begins at a byte. */
export interface PairChunk {
  /** Its first element and how many there are. */
  readonly first: number
  readonly elements: number
  readonly referenceBytes: Uint8Array
  readonly targetBytes: Uint8Array
}

/** Both tensors in step, on the same grid whatever their own chunks; a chunk is valid until the next one. */
export async function* pairChunks(reference: TensorSource, target: TensorSource): AsyncIterable<PairChunk> {
  const total = elementCount(reference.shape)
  const referenceReader = new ByteReader(reference, 'reference')
  const targetReader = new ByteReader(target, 'target')
  try {
    for (let first = 0; first < total; first += CHUNK) {
      const elements = Math.min(CHUNK, total - first)
      const referenceBytes = await referenceReader.take(bytesOf(reference.dtype, elements))
      const targetBytes = await targetReader.take(bytesOf(target.dtype, elements))
      yield { first, elements, referenceBytes, targetBytes }
    }
    await referenceReader.end()
    await targetReader.end()
  } finally {
    await referenceReader.close()
    await targetReader.close()
  }
}

/** One tensor in chunks of `CHUNK` elements; a chunk is valid until the next one. */
export async function* tensorChunks(source: TensorSource): AsyncIterable<{ bytes: Uint8Array; elements: number }> {
  const total = elementCount(source.shape)
  const reader = new ByteReader(source, 'reference')
  try {
    for (let first = 0; first < total; first += CHUNK) {
      const elements = Math.min(CHUNK, total - first)
      yield { bytes: await reader.take(bytesOf(source.dtype, elements)), elements }
    }
    await reader.end()
  } finally {
    await reader.close()
  }
}

function bytesOf(dtype: DType, elements: number): number {
  return Math.ceil((elements * DTYPES[dtype].bits) / 8)
}
