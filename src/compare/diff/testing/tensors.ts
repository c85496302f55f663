import type { DType } from '../../../domain/dtype.ts'
import { elementCount, type TensorSource } from '../../../domain/tensor.ts'
import { encodeNumbers } from '../../../tensors/encode.ts'
import { memorySource } from '../../../tensors/memory-source.ts'
import { loadBytes } from '../../../tensors/tensor-bytes.ts'
import { type OpenPair, withElements } from '../element-reader.ts'
import { randomFractions } from '../samples.ts'

/** Numbers of a normal distribution, the same for the same seed. */
export function normal(count: number, seed = 1): number[] {
  const random = randomFractions(seed)
  return Array.from({ length: count }, () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random()))
}

export function tensor(shape: readonly number[], numbers: readonly number[], dtype: DType = 'float32'): TensorSource {
  return memorySource('x', { dtype, shape, bytes: encodeNumbers(dtype, numbers) })
}

/** Numbers of a shape by their index. */
export function filled(shape: readonly number[], numberAt: (...index: number[]) => number): number[] {
  return Array.from({ length: elementCount(shape) }, (_, place) => {
    const index = shape.map((size, axis) => Math.floor(place / elementCount(shape.slice(axis + 1))) % size)
    return numberAt(...index)
  })
}

export function withPair<T>(reference: TensorSource, target: TensorSource, use: (pair: OpenPair) => T): Promise<T> {
  return withElements(reference, target, loadBytes, use)
}
