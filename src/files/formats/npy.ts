import type { FileHandle } from 'node:fs/promises'
import { DTYPES } from '../../domain/dtype.ts'
import { FormatError } from '../../domain/errors.ts'
import { elementCount, type Tensor, type TensorSource } from '../../domain/tensor.ts'
import { readWhole } from '../../tensors/read-whole.ts'
import { decodeStrings } from '../../tensors/strings.ts'
import { openAtomic, writeAt } from '../disk/atomic.ts'
import { readExactly, readRange, withFile } from '../disk/read-range.ts'
import { describeStart } from './magic.ts'
import { formatNpyHeader, type NpyHeader, parseNpyHeader } from './npy-header.ts'
import { decodeFixedText, encodeFixedText, textWidth } from './npy-text.ts'

const MAX_HEADER_BYTES = 1 << 20
/** Fortran order and text are converted in memory. */
const MAX_CONVERTED_BYTES = 2 ** 30

/** Opens an .npy file; its chunks come little-endian and row-major, however they were saved. */
export async function openNpy(path: string, name: string = path): Promise<TensorSource> {
  const { header, dataStart, dataBytes } = await readHeader(path)
  const { dtype, shape } = header
  if (header.text || (header.fortranOrder && shape.length > 1)) {
    const bytes = await readConverted(path, header, dataStart, dataBytes)
    return { name, dtype, shape, byteLength: bytes.length, chunks: () => once(bytes) }
  }
  const source = { name, dtype, shape, byteLength: dataBytes }
  const chunks = () => littleEndian(path, header, dataStart, dataBytes)
  return header.bigEndian ? { ...source, chunks } : { ...source, file: { path, start: dataStart }, chunks }
}

/** Reads an .npy file whole. */
export async function readNpy(path: string): Promise<Tensor> {
  const source = await openNpy(path)
  return { dtype: source.dtype, shape: source.shape, bytes: await readWhole(source) }
}

/** Writes a tensor as .npy, chunk by chunk (strings whole, as NumPy gives them all the same width). */
export async function writeNpy(path: string, source: TensorSource): Promise<void> {
  const texts = source.dtype === 'string' ? decodeStrings(await readWhole(source), elementCount(source.shape)) : null
  const header = formatNpyHeader(source.dtype, source.shape, texts ? textWidth(texts) : 0)
  if (!header)
    throw new FormatError('npy', `npy cannot hold ${source.dtype}; write tensor "${source.name}" as safetensors`)
  const file = await openAtomic(path)
  try {
    await writeAt(file.handle, header, 0, path)
    let at = header.length
    for await (const chunk of texts ? once(encodeFixedText(texts)) : source.chunks()) {
      await writeAt(file.handle, chunk, at, path)
      at += chunk.length
    }
  } catch (error) {
    await file.abort()
    throw error
  }
  await file.commit()
}

async function readHeader(path: string): Promise<{ header: NpyHeader; dataStart: number; dataBytes: number }> {
  return withFile(path, async (handle, byteLength) => {
    const { start, length } = await headerRange(handle, byteLength, path)
    const text = Buffer.from(await readExactly(handle, start, length, path)).toString('utf8')
    const header = parseNpyHeader(text, path)
    const dataBytes = byteLength - start - length
    checkSize(header, dataBytes, path)
    return { header, dataStart: start + length, dataBytes }
  })
}

async function headerRange(
  handle: FileHandle,
  byteLength: number,
  path: string,
): Promise<{ start: number; length: number }> {
  const head = await readExactly(handle, 0, Math.min(12, byteLength), path)
  const magic = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59]
  if (head.length < 12 || !magic.every((byte, i) => head[i] === byte)) {
    const text = `${path} is ${describeStart(head)}, expected an .npy file; save it with numpy.save`
    throw new FormatError('npy', text)
  }
  const version = head[6]!
  if (version < 1 || version > 3) {
    throw new FormatError('npy', `${path} has .npy version ${version}, expected 1, 2 or 3; save it again`)
  }
  const view = new DataView(head.buffer)
  const start = version === 1 ? 10 : 12
  const length = version === 1 ? view.getUint16(8, true) : view.getUint32(8, true)
  if (length > Math.min(MAX_HEADER_BYTES, byteLength - start)) {
    throw new FormatError(
      'npy',
      `${path} claims a header of ${length} bytes, more than the file has or the limit allows; get it again`,
    )
  }
  return { start, length }
}

/** NumPy gives a width of 0 only to empty strings; a file may claim any number of them and have no bytes. */
const MOST_EMPTY_STRINGS = 1024

function checkSize(header: NpyHeader, dataBytes: number, path: string): void {
  const count = elementCount(header.shape)
  const needed = count * header.itemBytes
  if (header.itemBytes === 0 && count > MOST_EMPTY_STRINGS) {
    const found = `${path} claims ${count} strings of 0 bytes, at most ${MOST_EMPTY_STRINGS} are read`
    throw new FormatError('npy', `${found}; save them with a width of 1 or more`)
  }
  if (Number.isSafeInteger(needed) && needed === dataBytes) return
  const what = `${header.dtype} of shape (${header.shape.join(', ')})`
  throw new FormatError('npy', `${path} has ${dataBytes} bytes of data, but ${what} takes ${needed}; get it again`)
}

async function* littleEndian(
  path: string,
  header: NpyHeader,
  dataStart: number,
  dataBytes: number,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of readRange(path, dataStart, dataBytes)) {
    yield header.bigEndian ? swapped(chunk, swapBytes(header)) : chunk
  }
}

/** A complex number is two floats, each with its own byte order. */
function swapBytes({ dtype, itemBytes }: NpyHeader): number {
  return DTYPES[dtype].kind === 'complex' ? itemBytes / 2 : itemBytes
}

function swapped(bytes: Uint8Array, size: number): Uint8Array {
  if (size > 1) for (let at = 0; at < bytes.length; at += size) bytes.subarray(at, at + size).reverse()
  return bytes
}

async function readConverted(
  path: string,
  header: NpyHeader,
  dataStart: number,
  dataBytes: number,
): Promise<Uint8Array> {
  if (dataBytes > MAX_CONVERTED_BYTES) {
    const text = `${path} holds ${dataBytes} bytes in Fortran order or as text, at most ${MAX_CONVERTED_BYTES} can be converted`
    throw new FormatError('npy', `${text}; save it with numpy.ascontiguousarray`)
  }
  const bytes = await withFile(path, (handle) => readExactly(handle, dataStart, dataBytes, path))
  const rowMajor = header.fortranOrder ? toRowMajor(bytes, header.shape, header.itemBytes) : bytes
  if (header.text) return decodeFixedText(rowMajor, header, elementCount(header.shape), path)
  return header.bigEndian ? swapped(rowMajor, swapBytes(header)) : rowMajor
}

function toRowMajor(bytes: Uint8Array, shape: readonly number[], itemBytes: number): Uint8Array {
  const out = new Uint8Array(bytes.length)
  let stride = 1
  const strides = shape.map((size) => {
    const own = stride
    stride *= size
    return own
  })
  const index = shape.map(() => 0)
  const count = elementCount(shape)
  for (let i = 0, from = 0; i < count; i++) {
    out.set(bytes.subarray(from * itemBytes, (from + 1) * itemBytes), i * itemBytes)
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      from += strides[axis]!
      if (++index[axis]! < shape[axis]!) break
      from -= strides[axis]! * shape[axis]!
      index[axis] = 0
    }
  }
  return out
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}
