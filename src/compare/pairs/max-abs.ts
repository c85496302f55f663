import type { DType } from '../../domain/dtype.ts'
import type { TensorSource } from '../../domain/tensor.ts'
import { valuesPerElement } from '../../tensors/bytes.ts'
import { decodeNumbers } from '../../tensors/decode.ts'
import type { PairKernels } from '../kernels/contract.ts'
import { CHUNK } from '../kernels/layout.ts'
import { kernelName, withKernels } from '../kernels/lend.ts'
import { tensorChunks } from './pair-chunks.ts'
import { SCANNED } from './pair-task.ts'

/** Largest finite magnitude of a tensor (of the parts of complex numbers); 0 if there is none. Reads it all. */
export async function measureMaxAbs(source: TensorSource): Promise<number> {
  return withKernels(kernelName(), async (kernels) => {
    const largestOf = magnitudeFinder(source.dtype, kernels)
    let largest = 0
    for await (const { bytes, elements } of tensorChunks(source))
      largest = Math.max(largest, largestOf(bytes, elements))
    return largest
  })
}

type Finder = (bytes: Uint8Array, elements: number) => number

/** Finds the largest finite magnitude of a chunk. */
export function magnitudeFinder(dtype: DType, { scanner }: PairKernels): Finder {
  const kind = SCANNED[dtype]
  if (scanner && kind !== undefined) {
    return (bytes, elements) => {
      if (bytes.buffer !== scanner.referenceChunk.buffer) scanner.referenceChunk.set(bytes)
      // Whole vectors are read.
      scanner.referenceChunk.fill(0, bytes.length, bytes.length + 16)
      return scanner.largest(kind, elements)
    }
  }
  const numbers = new Float64Array(CHUNK * valuesPerElement(dtype))
  return (bytes, elements) => {
    decodeNumbers(dtype, bytes, 0, elements, numbers)
    return largestIn(numbers, elements * valuesPerElement(dtype))
  }
}

function largestIn(numbers: Float64Array, count: number): number {
  let largest = 0
  for (let i = 0; i < count; i++) {
    const magnitude = Math.abs(numbers[i]!)
    if (magnitude > largest && magnitude !== Number.POSITIVE_INFINITY) largest = magnitude
  }
  return largest
}
