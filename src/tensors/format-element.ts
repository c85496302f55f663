import { DTYPES, type DType } from '../domain/dtype.ts'
import { valuesPerElement } from './bytes.ts'
import { codeValues, isCodedFloat } from './codes.ts'
import { decodeBigInts, decodeNumbers } from './decode.ts'
import { floatCode } from './float-codes.ts'

const LONGEST_TEXT = 200

/** One element as text: integers exactly, floats with the fewest digits that read back as the same value. */
export function formatElement(dtype: DType, bytes: Uint8Array, index: number): string {
  const { kind } = DTYPES[dtype]
  if (kind === 'int' || kind === 'uint') return String(decodeBigInts(dtype, bytes, index, 1)[0])
  const values = new Float64Array(valuesPerElement(dtype))
  decodeNumbers(dtype, bytes, index, 1, values)
  if (kind === 'bool') return values[0] === 0 ? 'false' : 'true'
  if (kind === 'complex') return formatComplex(dtype === 'complex64' ? 'float32' : 'float64', values)
  return formatFloat(dtype, values[0]!)
}

/** A string in quotes with its control characters escaped; a long one is cut and says so. */
export function formatString(text: string): string {
  if (text.length <= LONGEST_TEXT) return JSON.stringify(text)
  return `${JSON.stringify(text.slice(0, LONGEST_TEXT))}… (${text.length} characters)`
}

function formatComplex(part: DType, values: Float64Array): string {
  const imaginary = formatFloat(part, values[1]!)
  return `${formatFloat(part, values[0]!)}${/^[-+]/.test(imaginary) ? '' : '+'}${imaginary}i`
}

/** The fewest digits that read back as the same value of the dtype; whole numbers with all of theirs. */
function formatFloat(dtype: DType, value: number): string {
  if (Object.is(value, -0)) return '-0'
  if (!Number.isFinite(value) || Number.isSafeInteger(value) || dtype === 'float64') return String(value)
  for (let digits = 1; digits <= 9; digits++) {
    const text = Number(value.toPrecision(digits))
    if (roundTo(dtype, text) === value) return String(text)
  }
  return String(value)
}

function roundTo(dtype: DType, value: number): number {
  return isCodedFloat(dtype) ? codeValues(dtype)[floatCode(dtype, value)]! : Math.fround(value)
}
