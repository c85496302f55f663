import type { DType } from '../../domain/dtype.ts'
import { FormatError } from '../../domain/errors.ts'

/** How the elements lie in the file: as the dtype itself, or as text of fixed width. */
export interface NpyLayout {
  readonly dtype: DType
  readonly bigEndian: boolean
  /** Bytes of one element in the file. */
  readonly itemBytes: number
  readonly text: 'ucs4' | 'bytes' | null
}

export interface NpyHeader extends NpyLayout {
  readonly shape: readonly number[]
  readonly fortranOrder: boolean
}

const TYPES: Readonly<Record<string, DType>> = {
  b1: 'bool',
  i1: 'int8',
  i2: 'int16',
  i4: 'int32',
  i8: 'int64',
  u1: 'uint8',
  u2: 'uint16',
  u4: 'uint32',
  u8: 'uint64',
  f2: 'float16',
  f4: 'float32',
  f8: 'float64',
  c8: 'complex64',
  c16: 'complex128',
  // NumPy has no bfloat16; ml_dtypes and others save it as two raw bytes.
  V2: 'bfloat16',
}

const codes = new Map<DType, string>(Object.entries(TYPES).map(([code, dtype]) => [dtype, code]))

/** The Python literal of an .npy header; nothing in it is evaluated. */
export function parseNpyHeader(text: string, path: string): NpyHeader {
  const found = readDict(text)
  const shape = found?.shape?.match(/\d+/g)?.map(Number) ?? []
  if (!found?.descr || !found.fortran_order || found.shape === undefined) throw unreadable(text, path)
  if (!shape.every(Number.isSafeInteger)) throw bad(path, `a shape of (${found.shape}) was found`)
  return { ...parseDescr(found.descr.slice(1, -1), path), shape, fortranOrder: found.fortran_order === 'True' }
}

const ENTRY = /\s*'(descr|fortran_order|shape)'\s*:\s*(?:('[^']*')|(True|False)|\(([\d, L]*)\))\s*(,|(?=\}))/y

type Dict = Partial<Record<'descr' | 'fortran_order' | 'shape', string>>

/** Each of the three keys exactly once, with a value of its own kind; null if the text is anything else. */
function readDict(text: string): Dict | null {
  const found: Dict = {}
  ENTRY.lastIndex = 1
  let end = 1
  for (let match = ENTRY.exec(text); match; match = ENTRY.exec(text)) {
    const key = match[1] as keyof Dict
    const value = { descr: match[2], fortran_order: match[3], shape: match[4] }[key]
    if (value === undefined || found[key] !== undefined) return null
    found[key] = value
    end = ENTRY.lastIndex
  }
  return text.startsWith('{') && text.slice(end).trim() === '}' ? found : null
}

function unreadable(text: string, path: string): FormatError {
  if (/'descr'\s*:\s*\[/.test(text)) return bad(path, 'a structured dtype was found, expected a plain one')
  return bad(path, 'its header is not the expected dict of descr, fortran_order and shape')
}

function parseDescr(descr: string, path: string): NpyLayout {
  const [, order = '', kind = '', size = ''] = /^([<>|=]?)([A-Za-z])(\d*)$/.exec(descr) ?? []
  if (kind === 'O') {
    throw bad(path, 'it holds Python objects, which only unpickling could read, and Assay never unpickles')
  }
  const bigEndian = order === '>'
  if (kind === 'U' || kind === 'S') {
    const itemBytes = Number(size) * (kind === 'U' ? 4 : 1)
    return { dtype: 'string', bigEndian, itemBytes, text: kind === 'U' ? 'ucs4' : 'bytes' }
  }
  const code = `${kind}${size}`
  const dtype = Object.hasOwn(TYPES, code) ? TYPES[code] : undefined
  if (!dtype)
    throw bad(
      path,
      `dtype ${JSON.stringify(descr)} is not known, expected one of ${Object.keys(TYPES).join(', ')}, U, S`,
    )
  return { dtype, bigEndian, itemBytes: Number(size), text: null }
}

/** Header of a version 1 file, padded so that the data starts at a multiple of 64 bytes; null where NumPy has no dtype. */
export function formatNpyHeader(dtype: DType, shape: readonly number[], textWidth: number): Uint8Array | null {
  const code = dtype === 'string' ? `U${textWidth}` : codes.get(dtype)
  if (!code) return null
  const order = dtype === 'bool' || code.endsWith('1') ? '|' : '<'
  const dims = shape.length === 1 ? `(${shape[0]},)` : `(${shape.join(', ')})`
  const dict = `{'descr': '${order}${code}', 'fortran_order': False, 'shape': ${dims}, }`
  const total = Math.ceil((10 + dict.length + 1) / 64) * 64
  const bytes = new Uint8Array(total).fill(0x20)
  bytes.set([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, (total - 10) & 0xff, (total - 10) >> 8])
  bytes.set(new TextEncoder().encode(dict), 10)
  bytes[total - 1] = 0x0a
  return bytes
}

function bad(path: string, found: string): FormatError {
  return new FormatError('npy', `${path} cannot be read: ${found}; save it again with numpy.save`)
}
