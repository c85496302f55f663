import type { DType } from '../../domain/dtype.ts'
import { elementCount, type TensorSource, type TensorSpec } from '../../domain/tensor.ts'
import { alignedBytes } from '../../tensors/bytes.ts'
import { joinBytes } from '../../tensors/join-bytes.ts'
import { decodeStrings, encodeStrings } from '../../tensors/strings.ts'
import type { OnnxRuntime, OrtData, OrtTensor } from './onnxruntime.ts'

type View = new (buffer: ArrayBufferLike, byteOffset: number, length: number) => ArrayBufferView

const VIEWS = {
  float32: Float32Array,
  uint8: Uint8Array,
  int8: Int8Array,
  uint16: Uint16Array,
  int16: Int16Array,
  int32: Int32Array,
  int64: BigInt64Array,
  bool: Uint8Array,
  float16: Uint16Array,
  float64: Float64Array,
  uint32: Uint32Array,
  uint64: BigUint64Array,
} satisfies Partial<Record<DType, View>>

/** Element types that onnxruntime's JavaScript interface can hold; bf16, float8 and 4-bit tensors have no place in it. */
export const ORT_DTYPES: readonly DType[] = [...(Object.keys(VIEWS) as DType[]), 'string']

export async function toOrtTensor(ort: OnnxRuntime, source: TensorSource): Promise<OrtTensor> {
  return tensorOver(ort, source, await readWhole(source))
}

export function tensorOver(
  ort: Pick<OnnxRuntime, 'Tensor'>,
  spec: Pick<TensorSpec, 'dtype' | 'shape'>,
  bytes: Uint8Array,
): OrtTensor {
  return new ort.Tensor(spec.dtype, ortData(spec, bytes), spec.shape)
}

/** A tensor without elements. */
export function emptyTensor(ort: OnnxRuntime, dtype: DType, shape: readonly number[]): OrtTensor {
  return tensorOver(ort, { dtype, shape }, new Uint8Array(0))
}

/** A tensor of whole numbers, row after row. */
export function wholeTensor(
  ort: Pick<OnnxRuntime, 'Tensor'>,
  dtype: DType,
  rows: readonly (readonly number[])[],
  shape: readonly number[],
): OrtTensor {
  const count = elementCount(shape)
  return new ort.Tensor(dtype, dtype === 'int64' ? wideData(rows, count) : narrowData(dtype, rows, count), shape)
}

/** By halves: making a BigInt of every number takes longer than a step of a small model. */
function wideData(rows: readonly (readonly number[])[], count: number): BigInt64Array {
  const halves = new Int32Array(2 * count)
  let at = 0
  for (const row of rows) {
    for (const value of row) {
      halves[at++] = value | 0
      halves[at++] = Math.floor(value / 2 ** 32)
    }
  }
  return new BigInt64Array(halves.buffer)
}

function narrowData(dtype: DType, rows: readonly (readonly number[])[], count: number): OrtData {
  const data =
    dtype === 'bool' ? new Uint8Array(count) : dtype === 'float32' ? new Float32Array(count) : new Int32Array(count)
  let at = 0
  for (const row of rows) {
    data.set(row, at)
    at += row.length
  }
  return data
}

async function readWhole(source: TensorSource): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  for await (const part of source.chunks()) parts.push(part)
  return parts.length === 1 ? parts[0]! : joinBytes(parts)
}

function ortData(source: Pick<TensorSource, 'dtype' | 'shape'>, bytes: Uint8Array): OrtData {
  if (source.dtype === 'string') return ortStrings(decodeStrings(bytes, elementCount(source.shape)))
  const View: View | undefined = VIEWS[source.dtype as keyof typeof VIEWS]
  if (!View) throw new Error(`onnxruntime's JavaScript interface has no tensors of ${source.dtype}`)
  const aligned = alignedBytes(bytes, 0, bytes.length, 8)
  return new View(aligned.buffer, aligned.byteOffset, elementCount(source.shape))
}

/** onnxruntime takes C strings and would silently cut them at a NUL. */
function ortStrings(strings: readonly string[]): readonly string[] {
  if (!strings.some((string) => string.includes('\0'))) return strings
  throw new Error("a string input contains a NUL character, which onnxruntime's JavaScript interface cannot carry")
}

/** The bytes of an output, as they travel. */
export function outputBytes({ data }: OrtTensor): Uint8Array {
  if (!ArrayBuffer.isView(data)) return encodeStrings(data)
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
}
