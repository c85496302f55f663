import { DTYPES, type DType } from '../domain/dtype.ts'
import { elementCount, type TensorSource } from '../domain/tensor.ts'
import { valuesPerElement } from '../tensors/bytes.ts'
import { decodeDifferences, decodeNumbers } from '../tensors/decode.ts'
import { ByteReader } from './byte-reader.ts'

/** Elements per block; a multiple of four, so that a block of 2-bit elements begins at a byte. */
const BLOCK_ELEMENTS = 65536

/** The same stretch of both tensors, as bytes and as numbers. */
export interface PairBlock {
  /** Its first element and how many there are. */
  readonly first: number
  readonly elements: number
  readonly referenceBytes: Uint8Array
  readonly targetBytes: Uint8Array
  /** Numbers: as many as elements, or twice that for complex ones. */
  readonly count: number
  readonly reference: Float64Array
  readonly target: Float64Array
  /** target − reference, zero only where they are the same. */
  readonly difference: Float64Array
}

/** Both tensors in step, block by block, whatever their chunks; a block is valid until the next one. */
export async function* pairBlocks(reference: TensorSource, target: TensorSource): AsyncIterable<PairBlock> {
  const total = elementCount(reference.shape)
  const numbers = numberArrays(Math.min(total, BLOCK_ELEMENTS) * valuesPerElement(reference.dtype))
  const referenceReader = new ByteReader(reference, 'reference')
  const targetReader = new ByteReader(target, 'target')
  try {
    for (let first = 0; first < total; first += BLOCK_ELEMENTS) {
      const elements = Math.min(BLOCK_ELEMENTS, total - first)
      const referenceBytes = await referenceReader.take(bytesOf(reference.dtype, elements))
      const targetBytes = await targetReader.take(bytesOf(target.dtype, elements))
      const block = { first, elements, referenceBytes, targetBytes, ...numbers }
      yield { ...block, count: decodeBlock(block, reference.dtype, target.dtype) }
    }
    await referenceReader.end()
    await targetReader.end()
  } finally {
    await referenceReader.close()
    await targetReader.close()
  }
}

/** The numbers of one tensor, block by block, in an array that is valid until the next block. */
export async function* numberBlocks(source: TensorSource): AsyncIterable<Float64Array> {
  const total = elementCount(source.shape)
  const parts = valuesPerElement(source.dtype)
  const numbers = new Float64Array(Math.min(total, BLOCK_ELEMENTS) * parts)
  const reader = new ByteReader(source, 'reference')
  try {
    for (let first = 0; first < total; first += BLOCK_ELEMENTS) {
      const elements = Math.min(BLOCK_ELEMENTS, total - first)
      decodeNumbers(source.dtype, await reader.take(bytesOf(source.dtype, elements)), 0, elements, numbers)
      yield numbers.subarray(0, elements * parts)
    }
    await reader.end()
  } finally {
    await reader.close()
  }
}

function numberArrays(length: number): Pick<PairBlock, 'reference' | 'target' | 'difference'> {
  return {
    reference: new Float64Array(length),
    target: new Float64Array(length),
    difference: new Float64Array(length),
  }
}

function decodeBlock(block: Omit<PairBlock, 'count'>, referenceDType: DType, targetDType: DType): number {
  const { elements, referenceBytes, targetBytes, reference, target, difference } = block
  const count = elements * valuesPerElement(referenceDType)
  decodeNumbers(referenceDType, referenceBytes, 0, elements, reference)
  decodeNumbers(targetDType, targetBytes, 0, elements, target)
  if (referenceDType === 'int64' || referenceDType === 'uint64') {
    decodeDifferences(referenceDType, referenceBytes, targetBytes, elements, difference)
  } else {
    for (let i = 0; i < count; i++) difference[i] = target[i]! - reference[i]!
  }
  return count
}

function bytesOf(dtype: DType, elements: number): number {
  return Math.ceil((elements * DTYPES[dtype].bits) / 8)
}
