import { DTYPES, type DType } from '../domain/dtype.ts'
import { FormatError } from '../domain/errors.ts'
import { isCodedFloat } from './codes.ts'
import { floatCode } from './float-codes.ts'

/**
 * Bytes of numbers, rounded to nearest with ties to even; complex ones as pairs. Integers must be whole and in range,
 * booleans are false only for 0.
 */
export function encodeNumbers(dtype: DType, values: ArrayLike<number>): Uint8Array {
  const { kind, bits } = DTYPES[dtype]
  if (isCodedFloat(dtype)) return packCodes(bits, values.length, (i) => floatCode(dtype, values[i]!))
  if (kind === 'bool') return packCodes(8, values.length, (i) => (values[i] === 0 ? 0 : 1))
  if (kind === 'int' || kind === 'uint') return encodeIntegers(dtype, values)
  if (kind === 'string') throw new FormatError('number-as-string', 'numbers cannot be written as a string tensor')
  const isWide = dtype === 'float64' || dtype === 'complex128'
  return bytesOf(isWide ? Float64Array.from(values) : Float32Array.from(values))
}

export function encodeBigInts(dtype: DType, values: readonly bigint[]): Uint8Array {
  const { kind, bits } = DTYPES[dtype]
  if (kind !== 'int' && kind !== 'uint') throw new FormatError('not-an-integer', `${dtype} does not hold integers`)
  requireRange(dtype, values)
  if (bits === 64) return bytesOf(BigUint64Array.from(values, (value) => BigInt.asUintN(64, value)))
  return packCodes(bits, values.length, (i) => Number(BigInt.asUintN(bits, values[i]!)))
}

function encodeIntegers(dtype: DType, values: ArrayLike<number>): Uint8Array {
  const { kind, bits } = DTYPES[dtype]
  if (bits === 64)
    return encodeBigInts(
      dtype,
      Array.from(values, (value) => BigInt(requireWhole(dtype, value))),
    )
  const span = 2 ** bits
  const low = kind === 'int' ? -span / 2 : 0
  return packCodes(bits, values.length, (i) => {
    const value = requireWhole(dtype, values[i]!)
    if (value < low || value >= low + span) throw outOfRange(dtype, value, low, low + span - 1)
    return value < 0 ? value + span : value
  })
}

function requireWhole(dtype: DType, value: number): number {
  if (Number.isInteger(value)) return value
  throw new FormatError('not-an-integer', `${value} cannot be written as ${dtype}; give a whole number`)
}

function requireRange(dtype: DType, values: readonly bigint[]): void {
  const { kind, bits } = DTYPES[dtype]
  const low = kind === 'int' ? -(1n << BigInt(bits - 1)) : 0n
  const high = low + (1n << BigInt(bits)) - 1n
  for (const value of values) {
    if (value < low || value > high) throw outOfRange(dtype, value, low, high)
  }
}

function outOfRange<T extends number | bigint>(dtype: DType, value: T, low: T, high: T): FormatError {
  return new FormatError('out-of-range', `${value} cannot be written as ${dtype}, which holds ${low} to ${high}`)
}

/** Low bits first within a byte, low bytes first within a code. */
function packCodes(bits: number, count: number, codeAt: (index: number) => number): Uint8Array {
  if (bits === 32) return bytesOf(Uint32Array.from({ length: count }, (_, i) => codeAt(i)))
  if (bits === 16) return bytesOf(Uint16Array.from({ length: count }, (_, i) => codeAt(i)))
  if (bits === 8) return Uint8Array.from({ length: count }, (_, i) => codeAt(i))
  const bytes = new Uint8Array(Math.ceil((count * bits) / 8))
  const perByte = 8 / bits
  for (let i = 0; i < count; i++) {
    const at = Math.floor(i / perByte)
    bytes[at] = bytes[at]! | (codeAt(i) << ((i % perByte) * bits))
  }
  return bytes
}

function bytesOf(array: Float32Array | Float64Array | Uint16Array | Uint32Array | BigUint64Array): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength)
}
