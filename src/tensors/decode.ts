import { DTYPES, type DType } from '../domain/dtype.ts'
import { FormatError } from '../domain/errors.ts'
import { alignedBytes, requireElements, valuesPerElement } from './bytes.ts'
import { type CodedDType, codeValues, isCoded } from './codes.ts'

/*
 * Typed arrays read in the host's byte order and tensors are little endian. Every machine that Node or a browser runs
 * on today is too, save s390x, where wrong numbers would look like right ones.
 */
if (new Uint8Array(Uint16Array.of(1).buffer)[0] !== 1) {
  throw new Error('Assay reads tensors on little-endian machines only; this one is big-endian')
}

type WideDType = 'int64' | 'uint64'

interface NativeArray {
  readonly BYTES_PER_ELEMENT: number
  new (buffer: ArrayBufferLike, byteOffset: number, length: number): ArrayLike<number>
}

type NativeDType = Exclude<DType, CodedDType | WideDType | 'string'>

const NATIVE: Readonly<Record<NativeDType, NativeArray>> = {
  float32: Float32Array,
  float64: Float64Array,
  complex64: Float32Array,
  complex128: Float64Array,
  int8: Int8Array,
  int16: Int16Array,
  int32: Int32Array,
  uint8: Uint8Array,
  uint16: Uint16Array,
  uint32: Uint32Array,
}

const TWO_32 = 4294967296

/**
 * Numbers of `count` elements from element `first` on, into the start of `out`; complex ones as pairs. 64-bit integers
 * are rounded to the nearest float64; see `decodeBigInts` and `decodeDifferences` for exact ones.
 */
export function decodeNumbers(dtype: DType, bytes: Uint8Array, first: number, count: number, out: Float64Array): void {
  requireElements(dtype, bytes, first, count)
  const valueCount = count * valuesPerElement(dtype)
  if (out.length < valueCount) {
    throw new RangeError(`${count} elements of ${dtype} need room for ${valueCount} numbers, found ${out.length}`)
  }
  if (isCoded(dtype)) decodeCodes(dtype, bytes, first, count, out)
  else if (dtype === 'int64' || dtype === 'uint64') decodeWide(dtype, bytes, first, count, out)
  else if (dtype !== 'string') decodeNative(NATIVE[dtype], bytes, first * (DTYPES[dtype].bits / 8), valueCount, out)
}

function decodeNative(
  Native: NativeArray,
  bytes: Uint8Array,
  firstByte: number,
  valueCount: number,
  out: Float64Array,
): void {
  const size = Native.BYTES_PER_ELEMENT
  const part = alignedBytes(bytes, firstByte, valueCount * size, size)
  out.set(new Native(part.buffer, part.byteOffset, valueCount))
}

function decodeCodes(dtype: CodedDType, bytes: Uint8Array, first: number, count: number, out: Float64Array): void {
  const values = codeValues(dtype)
  const { bits } = DTYPES[dtype]
  if (bits === 16) {
    const part = alignedBytes(bytes, first * 2, count * 2, 2)
    const codes = new Uint16Array(part.buffer, part.byteOffset, count)
    for (let i = 0; i < count; i++) out[i] = values[codes[i]!]!
  } else if (bits === 8) {
    for (let i = 0; i < count; i++) out[i] = values[bytes[first + i]!]!
  } else {
    const mask = (1 << bits) - 1
    const perByte = 8 / bits
    for (let i = 0; i < count; i++) {
      const element = first + i
      out[i] = values[(bytes[Math.floor(element / perByte)]! >> ((element % perByte) * bits)) & mask]!
    }
  }
}

/** Low and high halves; only the high one carries the sign. */
function halvesOf(dtype: WideDType, bytes: Uint8Array, first: number, count: number) {
  const part = alignedBytes(bytes, first * 8, count * 8, 4)
  const low = new Uint32Array(part.buffer, part.byteOffset, count * 2)
  return { low, high: dtype === 'int64' ? new Int32Array(part.buffer, part.byteOffset, count * 2) : low }
}

function decodeWide(dtype: WideDType, bytes: Uint8Array, first: number, count: number, out: Float64Array): void {
  const { low, high } = halvesOf(dtype, bytes, first, count)
  for (let i = 0; i < count; i++) out[i] = high[2 * i + 1]! * TWO_32 + low[2 * i]!
}

/** target − reference of 64-bit integers: zero only where they are the same, exact below 2^53. */
export function decodeDifferences(
  dtype: WideDType,
  reference: Uint8Array,
  target: Uint8Array,
  count: number,
  out: Float64Array,
): void {
  requireElements(dtype, reference, 0, count)
  requireElements(dtype, target, 0, count)
  const r = halvesOf(dtype, reference, 0, count)
  const t = halvesOf(dtype, target, 0, count)
  for (let i = 0; i < count; i++) {
    out[i] = (t.high[2 * i + 1]! - r.high[2 * i + 1]!) * TWO_32 + (t.low[2 * i]! - r.low[2 * i]!)
  }
}

/** Integers and booleans of any width, exactly. */
export function decodeBigInts(dtype: DType, bytes: Uint8Array, first: number, count: number): bigint[] {
  requireElements(dtype, bytes, first, count)
  if (dtype === 'int64' || dtype === 'uint64') {
    const part = alignedBytes(bytes, first * 8, count * 8, 8)
    const { buffer, byteOffset } = part
    return Array.from(
      dtype === 'int64' ? new BigInt64Array(buffer, byteOffset, count) : new BigUint64Array(buffer, byteOffset, count),
    )
  }
  const { kind } = DTYPES[dtype]
  if (kind !== 'int' && kind !== 'uint' && kind !== 'bool') {
    throw new FormatError('not-an-integer', `${dtype} elements are not integers; decode them as numbers`)
  }
  const numbers = new Float64Array(count)
  decodeNumbers(dtype, bytes, first, count, numbers)
  return Array.from(numbers, BigInt)
}
