import type { TensorSource } from '../domain/tensor.ts'

/** A complex tensor as real numbers with a last axis of size 2; the bytes are the same. Other tensors unchanged. */
export function viewAsReal(source: TensorSource): TensorSource {
  if (source.dtype !== 'complex64' && source.dtype !== 'complex128') return source
  const dtype = source.dtype === 'complex64' ? 'float32' : 'float64'
  return { ...source, dtype, shape: [...source.shape, 2] }
}
