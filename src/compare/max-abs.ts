import type { TensorSource } from '../domain/tensor.ts'
import { numberBlocks } from './pair-blocks.ts'

/** Largest finite magnitude of a tensor (of the parts of complex numbers); 0 if there is none. Reads it all. */
export async function measureMaxAbs(source: TensorSource): Promise<number> {
  let largest = 0
  for await (const numbers of numberBlocks(source)) {
    for (const number of numbers) {
      const magnitude = Math.abs(number)
      if (magnitude > largest && magnitude !== Number.POSITIVE_INFINITY) largest = magnitude
    }
  }
  return largest
}
