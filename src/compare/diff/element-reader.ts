import { DTYPES, type DType } from '../../domain/dtype.ts'
import { elementCount, type TensorSource } from '../../domain/tensor.ts'
import { decodeNumbers } from '../../tensors/decode.ts'
import type { TensorBytes } from '../../tensors/tensor-bytes.ts'

/** Reads a tensor's numbers at any place, synchronously. */
export interface ElementReader {
  /** Numbers of `count` elements from element `first` on, into the start of `out`. */
  read(first: number, count: number, out: Float64Array): void
}

function readElements(dtype: DType, bytes: TensorBytes): ElementReader {
  const { bits } = DTYPES[dtype]
  return {
    read(first, count, out) {
      const from = Math.floor((first * bits) / 8)
      const to = Math.ceil(((first + count) * bits) / 8)
      decodeNumbers(dtype, bytes.read(from, to - from), first - (from * 8) / bits, count, out)
    },
  }
}

/** Both sides of a pair, open. */
export interface OpenPair {
  readonly shape: readonly number[]
  readonly count: number
  readonly reference: ElementReader
  readonly target: ElementReader
}

/** Opens both sides, gives them to `use` and closes them again. */
export async function withElements<S extends Pick<TensorSource, 'dtype' | 'shape'>, T>(
  reference: S,
  target: S,
  open: (source: S) => Promise<TensorBytes>,
  use: (pair: OpenPair) => T | Promise<T>,
): Promise<T> {
  const referenceBytes = await open(reference)
  try {
    const targetBytes = await open(target)
    try {
      const { shape } = reference
      return await use({
        shape,
        count: elementCount(shape),
        reference: readElements(reference.dtype, referenceBytes),
        target: readElements(target.dtype, targetBytes),
      })
    } finally {
      targetBytes.close()
    }
  } finally {
    referenceBytes.close()
  }
}
