import { fromBinary, toBinary } from '@bufbuild/protobuf'
import type { DType } from '../../src/domain/dtype.ts'
import { buildModel } from '../../src/onnx/builder.ts'
import { ModelProtoSchema, TensorProto_DataLocation } from '../../src/onnx/generated/onnx-ml_pb.ts'
import type { ModelFormat, ModelRef } from '../../src/runtimes/contract.ts'
import { floats, saveModel } from './capture.ts'

type SavedModel = Promise<ModelRef & { readonly path: string }>

/** The same networks in one format or another. */
export interface ConformanceModels {
  readonly format: ModelFormat
  /** Outputs are known before the model runs. */
  readonly declaresOutputs: boolean
  smallNetwork(): SavedModel
  identity(dtype: DType, shape?: readonly (number | string)[]): SavedModel
  longWork(size: number, count: number): SavedModel
  /** What is wrong → a model that cannot be opened. */
  readonly broken: Readonly<Record<string, () => SavedModel>>
}

export const onnxModels: ConformanceModels = {
  format: 'onnx',
  declaresOutputs: true,
  smallNetwork: () => saveModel(smallNetwork()),
  identity: (dtype, shape) => saveModel(identity(dtype, shape)),
  longWork: (size, count) => saveModel(longWork(size, count)),
  broken: {
    'that is no protobuf': () => saveModel(new Uint8Array(Buffer.from('this is not a model'))),
    'with an unknown operator': () => saveModel(unknownOperator()),
  },
}

/** y = relu(x · w + b), z = x + x */
export function smallNetwork(): Uint8Array {
  return buildModel({
    nodes: [
      { op: 'MatMul', inputs: ['x', 'w'], outputs: ['xw'] },
      { op: 'Add', inputs: ['xw', 'b'], outputs: ['xwb'] },
      { op: 'Relu', inputs: ['xwb'], outputs: ['y'] },
      { op: 'Add', inputs: ['x', 'x'], outputs: ['z'] },
    ],
    inputs: [{ name: 'x', dtype: 'float32', shape: ['batch', 2] }],
    outputs: [
      { name: 'y', dtype: 'float32', shape: ['batch', 3] },
      { name: 'z', dtype: 'float32', shape: ['batch', 2] },
    ],
    initializers: { w: floats([1, 2, 3, 4, 5, 6], [2, 3]), b: floats([0.5, -100, 0.25]) },
  })
}

/** y = x, of whatever shape, and listed twice. */
export function loosely(): Uint8Array {
  const y = { name: 'y', dtype: 'float32' } as const
  return buildModel({
    nodes: [{ op: 'Identity', inputs: ['x'], outputs: ['y'] }],
    inputs: [{ name: 'x', dtype: 'float32' }],
    outputs: [y, y],
  })
}

/** The small network with the weights of its first layer in a file of their own, 8 bytes from its start. */
export function withExternalWeights(location: string): { model: Uint8Array; weights: Uint8Array } {
  const whole = smallNetwork()
  const w = fromBinary(ModelProtoSchema, whole).graph!.initializer.find(({ name }) => name === 'w')!
  const entries = { location, offset: '8', length: String(w.rawData.length) }
  return {
    model: inOtherFile(whole, 'w', w.dims, entries),
    weights: new Uint8Array([...new Uint8Array(8), ...w.rawData]),
  }
}

/** The same model with the data of one constant, then of this shape, in another file. */
export function inOtherFile(
  model: Uint8Array,
  constant: string,
  dims: readonly bigint[],
  entries: Readonly<Record<string, string>>,
): Uint8Array {
  const proto = fromBinary(ModelProtoSchema, model)
  const tensor = proto.graph!.initializer.find(({ name }) => name === constant)!
  tensor.externalData = Object.entries(entries).map(([key, value]) => ({
    $typeName: 'onnx.StringStringEntryProto',
    key,
    value,
  }))
  tensor.rawData = new Uint8Array(0)
  tensor.dims = [...dims]
  tensor.dataLocation = TensorProto_DataLocation.EXTERNAL
  return toBinary(ModelProtoSchema, proto)
}

/** The opset and the version of the format in which Identity takes them; everything else is older. */
const YOUNG_DTYPES: Partial<Record<DType, { opset: number; ir: number }>> = {
  float8e4m3fn: { opset: 19, ir: 9 },
  float8e4m3fnuz: { opset: 19, ir: 9 },
  float8e5m2: { opset: 19, ir: 9 },
  float8e5m2fnuz: { opset: 19, ir: 9 },
  int4: { opset: 21, ir: 10 },
  uint4: { opset: 21, ir: 10 },
  float4e2m1: { opset: 23, ir: 11 },
  float8e8m0: { opset: 24, ir: 12 },
  int2: { opset: 25, ir: 13 },
  uint2: { opset: 25, ir: 13 },
}

export function identity(dtype: DType, shape: readonly (number | string)[] = ['n']): Uint8Array {
  return buildModel({
    ...YOUNG_DTYPES[dtype],
    nodes: [{ op: 'Identity', inputs: ['x'], outputs: ['y'] }],
    inputs: [{ name: 'x', dtype, shape }],
    outputs: [{ name: 'y', dtype, shape }],
  })
}

/** Products of square matrices, one after another: seconds of work for any engine. */
export function longWork(size: number, count: number): Uint8Array {
  const nodes = Array.from({ length: count }, (_, i) => ({
    op: 'MatMul',
    inputs: [i === 0 ? 'x' : `t${i}`, 'x'],
    outputs: [i === count - 1 ? 'y' : `t${i + 1}`],
  }))
  return buildModel({
    nodes,
    inputs: [{ name: 'x', dtype: 'float32', shape: [size, size] }],
    outputs: [{ name: 'y', dtype: 'float32', shape: [size, size] }],
  })
}

export function unknownOperator(): Uint8Array {
  return buildModel({
    nodes: [{ op: 'NoSuchOperator', inputs: ['x'], outputs: ['y'] }],
    inputs: [{ name: 'x', dtype: 'float32', shape: [1] }],
    outputs: [{ name: 'y', dtype: 'float32', shape: [1] }],
  })
}
