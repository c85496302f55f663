import { FormatError } from '../../domain/errors.ts'
import { type TensorSource, type Trace, type TraceValue, tensorNames } from '../../domain/tensor.ts'
import { CHUNK_BYTES, readExactly, readRange, withFile } from '../disk/read-range.ts'
import { describeStart } from './magic.ts'
import { MAX_HEADER_BYTES, parseHeader, type StoredTensor, type TraceHeader } from './trace-header.ts'

/** Opens a safetensors file as a trace; tensors are read when their chunks are asked for. */
export async function openTrace(path: string): Promise<Trace> {
  const { header, dataStart } = await readHeader(path)
  const tensors = new Map(header.tensors.map((tensor) => [tensor.name, sourceOf(tensor, dataStart, path)]))
  checkValues(header.values, tensors, path)
  return { values: header.values, tensors }
}

async function readHeader(path: string): Promise<{ header: TraceHeader; dataStart: number }> {
  return withFile(path, async (handle, byteLength) => {
    const start = await readExactly(handle, 0, Math.min(16, byteLength), path)
    const headerBytes = headerLength(start, byteLength, path)
    const dataStart = 8 + headerBytes
    const bytes = await readExactly(handle, 8, headerBytes, path)
    return { header: parseHeader(bytes, byteLength - dataStart, path), dataStart }
  })
}

function headerLength(start: Uint8Array, fileBytes: number, path: string): number {
  if (start.length < 8 || start[8] !== 0x7b) {
    const found = `${path} is ${describeStart(start)}, expected a safetensors file`
    throw new FormatError('safetensors', `${found}; convert it (Python: safetensors.numpy.save_file)`)
  }
  const length = new DataView(start.buffer, start.byteOffset).getBigUint64(0, true)
  if (length > BigInt(MAX_HEADER_BYTES) || length > BigInt(fileBytes - 8)) {
    const limit = Math.min(MAX_HEADER_BYTES, fileBytes - 8)
    throw new FormatError(
      'safetensors',
      `${path} claims a header of ${length} bytes, at most ${limit} can be; get it again`,
    )
  }
  return Number(length)
}

/** Chunks hold whole elements: 8 MiB is a multiple of every element's size. */
function sourceOf(tensor: StoredTensor, dataStart: number, path: string): TensorSource {
  const { start, ...spec } = tensor
  const file = { path, start: dataStart + start }
  return { ...spec, file, chunks: () => readRange(path, file.start, tensor.byteLength, CHUNK_BYTES) }
}

/** Every tensor belongs to exactly one value and every value has its tensors. */
export function checkValues(values: readonly TraceValue[], tensors: ReadonlyMap<string, unknown>, path: string): void {
  const count = values.reduce((sum, value) => sum + (value.kind === 'tensor' ? 1 : value.length), 0)
  const missing = new FormatError(
    'trace',
    `${path} lists values that do not match its ${tensors.size} tensors; write it again`,
  )
  if (count !== tensors.size || new Set(values.map(({ name }) => name)).size !== values.length) throw missing
  const names = new Set(values.flatMap(tensorNames))
  if (names.size !== tensors.size || [...names].some((name) => !tensors.has(name))) throw missing
}
