import { FormatError } from '../domain/errors.ts'
import type { TensorSource } from '../domain/tensor.ts'
import { readWhole } from './read-whole.ts'

/** A tensor's bytes, read at any place, synchronously. */
export interface TensorBytes {
  /** Bytes from `offset` on; valid until the next call. */
  read(offset: number, byteLength: number): Uint8Array
  close(): void
}

const LARGEST_IN_MEMORY = 2 ** 30

/** Loads a tensor whole, for one that cannot be read in parts. */
export async function loadBytes(source: TensorSource): Promise<TensorBytes> {
  if (source.byteLength > LARGEST_IN_MEMORY) {
    const what = `tensor "${source.name}" has ${source.byteLength} bytes that must be read at once, and the limit is ${LARGEST_IN_MEMORY}`
    throw new FormatError('too-large', `${what}; store it as .npy or safetensors in this machine's byte order`)
  }
  const bytes = await readWhole(source)
  return { read: (offset, byteLength) => bytes.subarray(offset, offset + byteLength), close: () => {} }
}
