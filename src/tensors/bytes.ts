import { DTYPES, type DType } from '../domain/dtype.ts'
import { FormatError } from '../domain/errors.ts'

/** Numbers that one element decodes to: complex ones are a real and an imaginary part. */
export function valuesPerElement(dtype: DType): 1 | 2 {
  return DTYPES[dtype].kind === 'complex' ? 2 : 1
}

/** Bytes from the one that holds element `first`, at an address that typed arrays of `alignment` accept. */
export function alignedBytes(bytes: Uint8Array, firstByte: number, byteLength: number, alignment: number): Uint8Array {
  const part = bytes.subarray(firstByte, firstByte + byteLength)
  // Not slice(): that of Node's Buffer is a view at the same address.
  return part.byteOffset % alignment === 0 ? part : new Uint8Array(part)
}

/** Refuses to read elements that the bytes do not hold. */
export function requireElements(dtype: DType, bytes: Uint8Array, first: number, count: number): void {
  const bits = DTYPES[dtype].bits
  if (bits === 0) throw new FormatError('string-as-number', `${dtype} elements are not numbers; decode them as strings`)
  if (first >= 0 && count >= 0 && (first + count) * bits <= bytes.byteLength * 8) return
  throw new FormatError(
    'short-tensor',
    `elements ${first} to ${first + count} of ${dtype} need ${Math.ceil(((first + count) * bits) / 8)} bytes, found ${bytes.byteLength}; the tensor is truncated`,
  )
}
