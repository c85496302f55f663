import type { DType } from '../domain/dtype.ts'
import { type FloatFormat, findExponent, floatFormat, powerOfTwo } from './float-format.ts'

/** Distance from |value| to the next larger number that the float dtype can hold. */
export function ulpSize(dtype: DType, value: number): number {
  const { mantissaBits, minExponent } = formatOf(dtype)
  return powerOfTwo(Math.max(findExponent(value), minExponent) - mantissaBits)
}

/** Largest ulp(r)/|r| of the normal numbers. */
export function relativeUlp(dtype: DType): number {
  return powerOfTwo(-formatOf(dtype).mantissaBits)
}

/**
 * How many steps of a float dtype lie between two finite numbers; −0 and 0 are the same place. Fractions mean that a
 * number lies between two steps because it comes from a finer dtype.
 */
export function ulpDistance(dtype: DType, a: number, b: number): number {
  return distanceIn(formatOf(dtype), a, b)
}

/** The largest distance, in steps of a format, of the first `count` pairs. */
export function maxStepsBetween(format: FloatFormat, a: Float64Array, b: Float64Array, count: number): number {
  let largest = 0
  for (let i = 0; i < count; i++) {
    if (a[i] === b[i]) continue
    const distance = distanceIn(format, a[i]!, b[i]!)
    if (distance > largest) largest = distance
  }
  return largest
}

function distanceIn({ mantissaBits, minExponent }: FloatFormat, a: number, b: number): number {
  const perBinade = powerOfTwo(mantissaBits)
  const binadeA = Math.max(findExponent(a), minExponent)
  const binadeB = Math.max(findExponent(b), minExponent)
  const stepsA = Math.abs(a) / powerOfTwo(binadeA - mantissaBits)
  const stepsB = Math.abs(b) / powerOfTwo(binadeB - mantissaBits)
  if (a < 0 === b < 0) return Math.abs((binadeA - binadeB) * perBinade + (stepsA - stepsB))
  return (binadeA - minExponent) * perBinade + stepsA + (binadeB - minExponent) * perBinade + stepsB
}

/** Of two float dtypes the one with the larger steps. */
export function coarserDType(a: DType, b: DType): DType {
  return formatOf(a).mantissaBits <= formatOf(b).mantissaBits ? a : b
}

function formatOf(dtype: DType): FloatFormat {
  const format = floatFormat(dtype)
  if (!format) throw new TypeError(`${dtype} has no ulp: this is a bug in Assay, ask only for floats`)
  return format
}
