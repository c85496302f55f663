import { FormatError } from '../domain/errors.ts'
import { CODED_FLOATS, type CodedFloat, findExponent, powerOfTwo } from './float-format.ts'

export type CodedFloatDType = keyof typeof CODED_FLOATS | 'float8e8m0'

const E8M0_BIAS = 127
const E8M0_NAN = 0xff

/** The value of every code of a float dtype of at most 16 bits. */
export function floatValues(dtype: CodedFloatDType): Float64Array {
  if (dtype === 'float8e8m0') return Float64Array.from({ length: 256 }, (_, code) => e8m0Value(code))
  const format = CODED_FLOATS[dtype]
  return Float64Array.from({ length: 2 ** format.bits }, (_, code) => floatValue(format, code))
}

function e8m0Value(code: number): number {
  return code === E8M0_NAN ? Number.NaN : powerOfTwo(code - E8M0_BIAS)
}

function floatValue(format: CodedFloat, code: number): number {
  const signBit = 2 ** (format.bits - 1)
  const magnitudeCode = code & (signBit - 1)
  const sign = code & signBit ? -1 : 1
  if (code === format.nanCode) return Number.NaN
  if (magnitudeCode === format.infinityCode) return sign * Number.POSITIVE_INFINITY
  if (magnitudeCode > format.maxFiniteCode) return Number.NaN
  return sign * magnitudeOf(format, magnitudeCode)
}

function magnitudeOf(format: CodedFloat, magnitudeCode: number): number {
  const { mantissaBits, minExponent } = format
  const steps = 2 ** mantissaBits
  const biased = Math.floor(magnitudeCode / steps)
  const fraction = magnitudeCode % steps
  if (biased === 0) return fraction * powerOfTwo(minExponent - mantissaBits)
  return (steps + fraction) * powerOfTwo(biased - 1 + minExponent - mantissaBits)
}

/**
 * Nearest code, ties to even. What is too large becomes infinity in float16 and bfloat16 (IEEE) and the largest finite
 * value in the 8- and 4-bit kinds (Cast with saturate=1); an infinity stays one where the format has it and is NaN otherwise.
 */
export function floatCode(dtype: CodedFloatDType, value: number): number {
  if (dtype === 'float8e8m0') return e8m0Code(value)
  const format: CodedFloat = CODED_FLOATS[dtype]
  const signBit = value < 0 || Object.is(value, -0) ? 2 ** (format.bits - 1) : 0
  if (Number.isNaN(value)) return codeWithoutValue(dtype, format.nanCode, value)
  if (!Number.isFinite(value)) {
    return format.infinityCode === null ? codeWithoutValue(dtype, format.nanCode, value) : signBit + format.infinityCode
  }
  const magnitudeCode = limitCode(format, roundedCode(format, Math.abs(value)))
  return magnitudeCode === 0 && !format.negativeZero ? 0 : signBit + magnitudeCode
}

function roundedCode(format: CodedFloat, magnitude: number): number {
  const { mantissaBits, minExponent } = format
  const exponent = Math.max(findExponent(magnitude), minExponent)
  const steps = roundTiesToEven(magnitude / powerOfTwo(exponent - mantissaBits))
  return (exponent - minExponent) * 2 ** mantissaBits + steps
}

function limitCode(format: CodedFloat, code: number): number {
  if (code <= format.maxFiniteCode) return code
  return format.bits === 16 && format.infinityCode !== null ? format.infinityCode : format.maxFiniteCode
}

function codeWithoutValue(dtype: CodedFloatDType, nanCode: number | null, value: number): number {
  if (nanCode !== null) return nanCode
  throw new FormatError(
    'not-representable',
    `${value} cannot be written as ${dtype}, which has neither NaN nor infinity`,
  )
}

function roundTiesToEven(value: number): number {
  const floor = Math.floor(value)
  const rest = value - floor
  return rest > 0.5 || (rest === 0.5 && floor % 2 === 1) ? floor + 1 : floor
}

/** Zero and what is below 2^-127 become 2^-127, what is above 2^127 that; there are no negative numbers, so NaN. */
function e8m0Code(value: number): number {
  if (!(value >= 0) || value === Number.POSITIVE_INFINITY) return E8M0_NAN
  const exponent = findExponent(value)
  if (exponent < -E8M0_BIAS) return 0
  const code = exponent + E8M0_BIAS
  const fraction = value / powerOfTwo(exponent)
  const up = fraction > 1.5 || (fraction === 1.5 && code % 2 === 1)
  return Math.min(up ? code + 1 : code, E8M0_NAN - 1)
}
