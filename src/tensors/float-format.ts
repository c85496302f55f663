import type { DType } from '../domain/dtype.ts'

/** A binary float: sign, exponent, mantissa. Magnitudes in ascending order have ascending codes. */
export interface FloatFormat {
  readonly mantissaBits: number
  /** Exponent of the smallest normal number. */
  readonly minExponent: number
}

/** A float of at most 16 bits, whose codes we turn into numbers ourselves. */
export interface CodedFloat extends FloatFormat {
  readonly bits: number
  readonly maxFiniteCode: number
  /** Code of +Infinity; null where the format has none. */
  readonly infinityCode: number | null
  /** Code that NaN is written as; null where the format has none. */
  readonly nanCode: number | null
  /** The fnuz kinds use the code of −0 for NaN. */
  readonly negativeZero: boolean
}

export const CODED_FLOATS = {
  float16: {
    bits: 16,
    mantissaBits: 10,
    minExponent: -14,
    maxFiniteCode: 0x7bff,
    infinityCode: 0x7c00,
    nanCode: 0x7e00,
    negativeZero: true,
  },
  bfloat16: {
    bits: 16,
    mantissaBits: 7,
    minExponent: -126,
    maxFiniteCode: 0x7f7f,
    infinityCode: 0x7f80,
    nanCode: 0x7fc0,
    negativeZero: true,
  },
  float8e4m3fn: {
    bits: 8,
    mantissaBits: 3,
    minExponent: -6,
    maxFiniteCode: 0x7e,
    infinityCode: null,
    nanCode: 0x7f,
    negativeZero: true,
  },
  float8e4m3fnuz: {
    bits: 8,
    mantissaBits: 3,
    minExponent: -7,
    maxFiniteCode: 0x7f,
    infinityCode: null,
    nanCode: 0x80,
    negativeZero: false,
  },
  float8e5m2: {
    bits: 8,
    mantissaBits: 2,
    minExponent: -14,
    maxFiniteCode: 0x7b,
    infinityCode: 0x7c,
    nanCode: 0x7e,
    negativeZero: true,
  },
  float8e5m2fnuz: {
    bits: 8,
    mantissaBits: 2,
    minExponent: -15,
    maxFiniteCode: 0x7f,
    infinityCode: null,
    nanCode: 0x80,
    negativeZero: false,
  },
  float4e2m1: {
    bits: 4,
    mantissaBits: 1,
    minExponent: 0,
    maxFiniteCode: 0x7,
    infinityCode: null,
    nanCode: null,
    negativeZero: true,
  },
} as const satisfies Partial<Record<DType, CodedFloat>>

/** float8e8m0 has no sign, no zero and no mantissa: a code is a power of two. */
const E8M0: FloatFormat = { mantissaBits: 0, minExponent: -127 }

const FORMATS: Readonly<Partial<Record<DType, FloatFormat>>> = {
  ...CODED_FLOATS,
  float8e8m0: E8M0,
  float32: { mantissaBits: 23, minExponent: -126 },
  float64: { mantissaBits: 52, minExponent: -1022 },
  complex64: { mantissaBits: 23, minExponent: -126 },
  complex128: { mantissaBits: 52, minExponent: -1022 },
}

/** Format of a float dtype, or of the parts of a complex one; undefined for the others. */
export function floatFormat(dtype: DType): FloatFormat | undefined {
  return FORMATS[dtype]
}

const POWER_OFFSET = 1074
const POWERS = Float64Array.from({ length: POWER_OFFSET + 1024 }, (_, i) => 2 ** (i - POWER_OFFSET))

/** 2^exponent for −1074 … 1023, many times faster than `**`. */
export function powerOfTwo(exponent: number): number {
  return POWERS[exponent + POWER_OFFSET]!
}

const scratch = new DataView(new ArrayBuffer(8))

/** floor(log2 |value|) of a normal float64; −1023 for zero and subnormals. */
export function findExponent(value: number): number {
  scratch.setFloat64(0, value)
  return ((scratch.getUint16(0) >>> 4) & 0x7ff) - 1023
}
