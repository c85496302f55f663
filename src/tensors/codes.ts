import { DTYPES, type DType } from '../domain/dtype.ts'
import { remember } from '../domain/remember.ts'
import { type CodedFloatDType, floatValues } from './float-codes.ts'
import { CODED_FLOATS } from './float-format.ts'

/** Dtypes that are read through a table of all their codes. */
export type CodedDType = CodedFloatDType | 'bool' | 'int4' | 'uint4' | 'int2' | 'uint2'

const tables = new Map<CodedDType, Float64Array>()

export function isCoded(dtype: DType): dtype is CodedDType {
  return isCodedFloat(dtype) || dtype === 'bool' || DTYPES[dtype].bits === 4 || DTYPES[dtype].bits === 2
}

export function isCodedFloat(dtype: DType): dtype is CodedFloatDType {
  return Object.hasOwn(CODED_FLOATS, dtype) || dtype === 'float8e8m0'
}

/** The value of every code of a dtype. */
export function codeValues(dtype: CodedDType): Float64Array {
  return remember(tables, dtype, () => makeTable(dtype))
}

function makeTable(dtype: CodedDType): Float64Array {
  if (dtype === 'bool') return Float64Array.from({ length: 256 }, (_, code) => (code === 0 ? 0 : 1))
  if (isCodedFloat(dtype)) return floatValues(dtype)
  const { kind, bits } = DTYPES[dtype]
  const size = 2 ** bits
  return Float64Array.from({ length: size }, (_, code) => (kind === 'int' && code >= size / 2 ? code - size : code))
}
