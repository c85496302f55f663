/** Float dtypes that a coarser computation may have rounded to. */
export type RoundedDType = 'float32' | 'float16' | 'bfloat16'

type Round = (numbers: Float64Array, out: Float64Array) => void

/** Numbers rounded to a coarser dtype through float32, to nearest with ties to even. */
export const ROUNDINGS: Readonly<Record<RoundedDType, Round>> = {
  float32: (numbers, out) => {
    for (let i = 0; i < numbers.length; i++) out[i] = Math.fround(numbers[i]!)
  },
  float16: roundToHalf,
  bfloat16: (numbers, out) => roundMantissa(numbers, out, 16),
}

let floats = new Float32Array(0)

function floatsOf(numbers: Float64Array): Float32Array {
  if (floats.length < numbers.length) floats = new Float32Array(numbers.length)
  const part = floats.subarray(0, numbers.length)
  part.set(numbers)
  return part
}

/** Drops the lowest bits of a float32; NaN and infinities are kept. */
function roundMantissa(numbers: Float64Array, out: Float64Array, dropped: number): void {
  const part = floatsOf(numbers)
  const codes = new Uint32Array(part.buffer, 0, part.length)
  const [half, mask] = [2 ** (dropped - 1) - 1, ~(2 ** dropped - 1)]
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i]!
    if ((code & 0x7f800000) !== 0x7f800000) codes[i] = (code + half + ((code >>> dropped) & 1)) & mask
  }
  out.set(part)
}

const LEAST_NORMAL = 2 ** -14
/** One step of the subnormal float16 is 2^-24: adding this leaves no finer bits. */
const SUBNORMAL_ROUNDER = 1.5 * 2 ** 28
const LEAST_INFINITE = 65520

function roundToHalf(numbers: Float64Array, out: Float64Array): void {
  roundMantissa(numbers, out, 13)
  for (let i = 0; i < numbers.length; i++) {
    const value = numbers[i]!
    const size = Math.abs(value)
    if (size < LEAST_NORMAL) out[i] = value + SUBNORMAL_ROUNDER - SUBNORMAL_ROUNDER
    else if (size >= LEAST_INFINITE) out[i] = value * Number.POSITIVE_INFINITY
  }
}
