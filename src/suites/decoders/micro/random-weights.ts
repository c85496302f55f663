import { countBytes, elementCount, type TensorSource } from '../../../domain/tensor.ts'
import { type RandomStream, randomStream } from '../../../models/random.ts'
import { encodeNumbers } from '../../../tensors/encode.ts'
import type { WeightSpec } from './weight-specs.ts'

const CHUNK_ELEMENTS = 2 ** 20
export type WeightDType = 'float32' | 'float16' | 'bfloat16'

/** Weights drawn from a seed, the same on every machine; each has a stream of its own. */
export function randomWeight(spec: WeightSpec, seed: number, dtype: WeightDType): TensorSource {
  const { name, shape } = spec
  const count = elementCount(shape)
  return {
    name,
    dtype,
    shape,
    byteLength: countBytes(dtype, shape) ?? 0,
    async *chunks() {
      const random = randomStream(seed, name)
      for (let done = 0; done < count; done += CHUNK_ELEMENTS) {
        yield encodeNumbers(dtype, draw(Math.min(CHUNK_ELEMENTS, count - done), spec, random))
      }
    },
  }
}

/** Sums of four uniform whole numbers: about normal, and two draws a weight instead of twelve. */
function draw(count: number, { mean, deviation }: WeightSpec, random: RandomStream): Float32Array {
  const values = new Float32Array(count)
  const unit = (deviation * Math.sqrt(3)) / 2 ** 16
  for (let i = 0; i < count; i++) {
    const a = random.bits()
    const b = random.bits()
    const sum = (a >>> 16) + (a & 0xffff) + (b >>> 16) + (b & 0xffff)
    values[i] = mean + (sum - 2 * 0xffff) * unit
  }
  return values
}
