import type { TensorSource } from '../../domain/tensor.ts'
import { decodeNumbers } from '../../tensors/decode.ts'
import { encodeNumbers } from '../../tensors/encode.ts'
import { CHUNK } from '../kernels/layout.ts'
import { pairChunks, tensorChunks } from '../pairs/pair-chunks.ts'

/** How far off the target may be if its function got x and the reference gave r. */
export type Allowance = (x: number, r: number) => number

/** Tensors of one dtype and shape: what a function got, and what it gave on each side. */
export interface FunctionValues {
  readonly input: TensorSource
  readonly reference: TensorSource
  readonly target: TensorSource
}

/** Moves the target's tensor towards the reference's, at every place by the allowed amount. */
export function beyondPromise({ input, reference, target }: FunctionValues, allowed: Allowance): TensorSource {
  const { name, dtype, shape, byteLength } = target
  const [x, r, t] = [new Float64Array(CHUNK), new Float64Array(CHUNK), new Float64Array(CHUNK)]
  async function* chunks(): AsyncGenerator<Uint8Array> {
    const inputs = tensorChunks(input)[Symbol.asyncIterator]()
    try {
      for await (const { elements, referenceBytes, targetBytes } of pairChunks(reference, target)) {
        const { value } = await inputs.next()
        decodeNumbers(dtype, value!.bytes, 0, elements, x)
        decodeNumbers(dtype, referenceBytes, 0, elements, r)
        decodeNumbers(dtype, targetBytes, 0, elements, t)
        for (let i = 0; i < elements; i++) t[i] = moved(t[i]!, r[i]!, allowed(x[i]!, r[i]!))
        yield encodeNumbers(dtype, t.subarray(0, elements))
      }
    } finally {
      await inputs.return?.()
    }
  }
  return { name, dtype, shape, byteLength, chunks }
}

/** NaN and infinities stay what they are: no promise covers them. */
function moved(t: number, r: number, allowed: number): number {
  const difference = t - r
  if (!Number.isFinite(difference)) return t
  return Math.abs(difference) <= allowed ? r : t - Math.sign(difference) * allowed
}
