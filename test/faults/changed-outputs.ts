import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { type DescMessage, fromBinary, type MessageShape, toBinary } from '@bufbuild/protobuf'
import { planIndexLayout } from '../../src/compare/index-layout.ts'
import { DTYPES, dtypeKind } from '../../src/domain/dtype.ts'
import { elementCount, type Tensor, type Trace, type ValueSpec } from '../../src/domain/tensor.ts'
import { OptionalProtoSchema, SequenceProtoSchema } from '../../src/onnx/generated/onnx-data_pb.ts'
import { type TensorProto, TensorProtoSchema } from '../../src/onnx/generated/onnx-ml_pb.ts'
import { type OnnxModel, readModel } from '../../src/onnx/model.ts'
import { outputOrigin } from '../../src/onnx/output-origin.ts'
import { tensorFromProto, tensorToProto } from '../../src/onnx/tensors/tensor-proto.ts'
import { readDataSet } from '../../src/suites/tensors/fitting/recorded.ts'
import { decodeBigInts, decodeNumbers } from '../../src/tensors/decode.ts'
import { encodeBigInts, encodeNumbers } from '../../src/tensors/encode.ts'
import { decodeStrings, encodeStrings } from '../../src/tensors/strings.ts'

export interface ChangedOutput {
  /** As in the case's id. */
  readonly model: string
  readonly output: string
  readonly dtype: string
}

export interface Change {
  /** Which element, from 0 to below 1. */
  readonly pick: number
  /** Change of a float, as a part of the tensor's largest magnitude. */
  readonly size: number
}

/** Changes one element of every recorded output under a folder of ONNX cases; gives those that have an element. */
export async function changeRecordedOutputs(root: string, change: Change): Promise<ChangedOutput[]> {
  const changed: ChangedOutput[] = []
  for (const path of modelsUnder(root)) {
    const folder = dirname(path)
    const model = await readModel(path)
    for (const dataSet of readdirSync(folder).filter((name) => name.startsWith('test_data_set_'))) {
      changed.push(...(await changeDataSet(join(folder, dataSet), model, change)))
    }
  }
  return changed
}

function modelsUnder(root: string): string[] {
  const files = readdirSync(root, { withFileTypes: true, recursive: true })
  return files.filter((file) => file.name === 'model.onnx').map((file) => join(file.parentPath, file.name))
}

async function changeDataSet(folder: string, model: OnnxModel, change: Change): Promise<ChangedOutput[]> {
  const files = readdirSync(folder)
  const changed: ChangedOutput[] = []
  for (const [i, spec] of model.outputs.entries()) {
    const file = `output_${i}.pb`
    if (!files.includes(file)) continue
    const ways = await waysFor(model, spec, folder, change)
    const first = changeFile(join(folder, file), spec, ways)
    if (first) changed.push({ model: basename(dirname(folder)), output: first.name, dtype: first.dtype })
  }
  return changed
}

type ChangeTensor = (tensor: Tensor) => Tensor

async function waysFor(model: OnnxModel, spec: ValueSpec, folder: string, change: Change): Promise<ChangeTensor> {
  const origin = outputOrigin(model, spec.name)
  if (origin.kind !== 'index') return (tensor) => changeElement(tensor, change)
  const sides = [
    await readDataSet(folder, 'input', model.inputs, 'inputs', 'reference'),
    await readDataSet(folder, 'output', model.outputs, 'inputs', 'reference'),
  ]
  const indexed = await wholeTensor(sides, origin.tensor)
  if (!indexed) return (tensor) => changeElement(tensor, change)
  return (tensor) => changeIndex(tensor, indexed, origin, change.pick)
}

async function wholeTensor(traces: readonly Trace[], name: string): Promise<Tensor | null> {
  const source = traces.map((trace) => trace.tensors.get(name)).find(Boolean)
  if (!source) return null
  const parts: Uint8Array[] = []
  for await (const part of source.chunks()) parts.push(part)
  return { dtype: source.dtype, shape: source.shape, bytes: new Uint8Array(Buffer.concat(parts)) }
}

/** Rewrites a file with one element changed; null where it has none. */
function changeFile(path: string, spec: ValueSpec, change: ChangeTensor): { name: string; dtype: string } | null {
  if (spec.kind === 'sequence') {
    const proto = readProto(path, SequenceProtoSchema)
    const at = changeFirst(proto.tensorValues, change)
    writeFileSync(path, toBinary(SequenceProtoSchema, proto))
    return at && { name: `${spec.name}#${at.index}`, dtype: at.dtype }
  }
  if (spec.kind === 'optional') {
    const proto = readProto(path, OptionalProtoSchema)
    const tensors = proto.tensorValue ? [proto.tensorValue] : (proto.sequenceValue?.tensorValues ?? [])
    const at = changeFirst(tensors, change)
    writeFileSync(path, toBinary(OptionalProtoSchema, proto))
    return at && { name: `${spec.name}#${at.index}`, dtype: at.dtype }
  }
  const proto = readProto(path, TensorProtoSchema)
  const at = changeFirst([proto], change)
  writeFileSync(path, toBinary(TensorProtoSchema, proto))
  return at && { name: spec.name, dtype: at.dtype }
}

function readProto<T extends DescMessage>(path: string, schema: T): MessageShape<T> {
  return fromBinary(schema, readFileSync(path))
}

function changeFirst(protos: readonly TensorProto[], change: ChangeTensor): { index: number; dtype: string } | null {
  const index = protos.findIndex((proto) => elementCount(proto.dims.map(Number)) > 0)
  if (index < 0) return null
  const proto = protos[index]!
  const tensor = tensorFromProto(proto)
  const { bytes } = change(tensor)
  if (Buffer.from(bytes).equals(tensor.bytes)) throw new Error(`the change of ${proto.name} changed nothing`)
  const { rawData, stringData } = tensorToProto(proto.name, { ...tensor, bytes })
  Object.assign(proto, { floatData: [], int32Data: [], int64Data: [], doubleData: [], uint64Data: [] })
  Object.assign(proto, { rawData, stringData })
  return { index, dtype: tensor.dtype }
}

function changeElement(tensor: Tensor, { pick, size }: Change): Tensor {
  const { dtype, shape, bytes } = tensor
  const count = elementCount(shape)
  const at = Math.floor(pick * count)
  const kind = dtypeKind(dtype)
  if (kind === 'string') {
    const texts = decodeStrings(bytes, count)
    texts[at] += '!'
    return { ...tensor, bytes: encodeStrings(texts) }
  }
  if (kind === 'bool') return withInteger(tensor, at, (value) => 1n - value)
  if (kind === 'int' || kind === 'uint') return withInteger(tensor, at, (value) => moved(tensor, value))
  const numbers = new Float64Array(count * (kind === 'complex' ? 2 : 1))
  decodeNumbers(dtype, bytes, 0, count, numbers)
  numbers[at] = changedNumber(numbers, at, size)
  return { ...tensor, bytes: encodeNumbers(dtype, numbers) }
}

/** Away from zero where it is the largest, so that nothing overflows into an infinity in narrow dtypes. */
function changedNumber(numbers: Float64Array, at: number, size: number): number {
  const value = numbers[at]!
  if (!Number.isFinite(value)) return 1
  const largest = numbers.reduce(
    (found, number) => (Number.isFinite(number) ? Math.max(found, Math.abs(number)) : found),
    0,
  )
  const step = largest === 0 ? 1 : largest * size
  return value > 0 ? value - step : value + step
}

/** Two away: one step is what a quantising op may be off. */
function moved({ dtype }: Tensor, value: bigint): bigint {
  const { kind, bits } = DTYPES[dtype]
  const highest = kind === 'int' ? (1n << BigInt(bits - 1)) - 1n : (1n << BigInt(bits)) - 1n
  return value + 2n > highest ? value - 2n : value + 2n
}

function withInteger(tensor: Tensor, at: number, change: (value: bigint) => bigint): Tensor {
  const { dtype, shape, bytes } = tensor
  const values = decodeBigInts(dtype, bytes, 0, elementCount(shape))
  values[at] = change(values[at]!)
  if (dtype === 'bool') return { ...tensor, bytes: encodeNumbers(dtype, values.map(Number)) }
  return { ...tensor, bytes: encodeBigInts(dtype, values) }
}

/** An index that selects another value; one out of range where all values are the same. */
function changeIndex(
  tensor: Tensor,
  indexed: Tensor,
  selection: Parameters<typeof planIndexLayout>[0],
  pick: number,
): Tensor {
  const layout = planIndexLayout(selection, indexed.shape, tensor.shape)
  const count = elementCount(tensor.shape)
  const places = elementCount(indexed.shape)
  if (!layout) return changeElement(tensor, { pick, size: 1 })
  const values = new Float64Array(places)
  decodeNumbers(indexed.dtype, indexed.bytes, 0, places, values)
  const indices = Float64Array.from(decodeBigInts(tensor.dtype, tensor.bytes, 0, count), Number)
  const wished = Math.floor(pick * count)
  const at = [...indices.keys()].find((element) => element >= wished && layout.selects(element)) ?? count - 1
  const place = layout.placeOf(indices, at)
  const differs = (index: number) => {
    const other = layout.placeOf(indices.with(at, index), at)
    return other === null || place === null || !Object.is(values[other], values[place])
  }
  let index = 0
  while (!differs(index)) index++
  return withInteger(tensor, at, () => BigInt(index))
}
