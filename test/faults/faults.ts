import { create, fromBinary, toBinary } from '@bufbuild/protobuf'
import { DTYPES, dtypeFromOnnx } from '../../src/domain/dtype.ts'
import { elementCount } from '../../src/domain/tensor.ts'
import {
  AttributeProto_AttributeType,
  AttributeProtoSchema,
  type ModelProto,
  ModelProtoSchema,
  type NodeProto,
  type TensorProto,
} from '../../src/onnx/generated/onnx-ml_pb.ts'
import { tensorFromProto, tensorToProto } from '../../src/onnx/tensors/tensor-proto.ts'
import { findAttribute, intAttribute, type NodeList, nodeLabel, walkScopes } from '../../src/onnx/walk.ts'
import { decodeNumbers } from '../../src/tensors/decode.ts'
import { encodeNumbers } from '../../src/tensors/encode.ts'

export type FaultKind = 'weight' | 'channels' | 'bias' | 'epsilon' | 'bf16'

export interface FaultOptions {
  /** From 0 up to 1: which element or channel. */
  readonly pick?: number
  /** What one weight is multiplied by; integers and zeros are moved by a fixed amount instead. */
  readonly factor?: number
  readonly epsilon?: number
}

export interface FaultPlace {
  readonly kind: FaultKind
  readonly where: string
  /** The model's bytes with this one fault; throws if the fault would change nothing. */
  plant(options?: FaultOptions): Uint8Array
}

/** Every place where a fault can be planted, sub-graphs and functions included. */
export function faultPlaces(bytes: Uint8Array): FaultPlace[] {
  return sitesOf(fromBinary(ModelProtoSchema, bytes)).map(({ kind, where }, index) => ({
    kind,
    where,
    plant: (options = {}) => {
      const proto = fromBinary(ModelProtoSchema, bytes)
      sitesOf(proto)[index]!.apply({ pick: 0.5, factor: 1.5, epsilon: 0.01, ...options })
      return toBinary(ModelProtoSchema, proto)
    },
  }))
}

interface Site {
  readonly kind: FaultKind
  readonly where: string
  apply(options: Required<FaultOptions>): void
}

/** Input and axis of the output channels by op. */
const WEIGHTS: Readonly<Record<string, readonly (readonly [number, number])[]>> = {
  Conv: [[1, 0]],
  ConvTranspose: [[1, 1]],
  ConvInteger: [[1, 0]],
  MatMul: [[1, -1]],
  MatMulInteger: [[1, -1]],
  Gemm: [[1, 1]],
  QLinearConv: [[3, 0]],
  QLinearMatMul: [[3, -1]],
  DynamicQuantizeMatMul: [[1, -1]],
  LSTM: [
    [1, 1],
    [2, 1],
  ],
  GRU: [
    [1, 1],
    [2, 1],
  ],
}

const BIASES: Readonly<Record<string, number>> = {
  Conv: 2,
  ConvTranspose: 2,
  Gemm: 2,
  LSTM: 3,
  GRU: 3,
  LayerNormalization: 2,
  BatchNormalization: 2,
  InstanceNormalization: 2,
  QLinearConv: 8,
}

const NORMALISATIONS = new Set([
  'BatchNormalization',
  'LayerNormalization',
  'InstanceNormalization',
  'GroupNormalization',
])

function sitesOf(proto: ModelProto): Site[] {
  const sites: Site[] = []
  for (const scope of walkScopes(proto)) {
    const constantOf = constantsOf(scope)
    for (const node of scope.nodes) sites.push(...nodeSites(node, scope, constantOf))
  }
  return sites
}

type ConstantOf = (name: string | undefined) => TensorProto | undefined

/** Initializers and Constant nodes of a scope and those around it, also behind DequantizeLinear and Identity. */
function constantsOf(scope: NodeList): ConstantOf {
  const own = new Map<string, TensorProto>()
  for (const tensor of scope.graph?.initializer ?? []) own.set(tensor.name, tensor)
  for (const node of scope.nodes) {
    const [input = ''] = node.input
    const passed = /^(Identity|DequantizeLinear)$/.test(node.opType) ? own.get(input) : undefined
    const tensor = node.opType === 'Constant' ? findAttribute(node, 'value')?.t : passed
    if (tensor && node.output[0]) own.set(node.output[0], tensor)
  }
  const outer = scope.parent ? constantsOf(scope.parent) : () => undefined
  return (name) => (name ? (own.get(name) ?? outer(name)) : undefined)
}

function nodeSites(node: NodeProto, scope: NodeList, constantOf: ConstantOf): Site[] {
  const where = `${nodeLabel(node)} in ${scope.where}`
  const sites: Site[] = []
  for (const [input, axis] of WEIGHTS[node.opType] ?? []) {
    const weight = constantOf(node.input[input])
    if (!weight || !isEditable(weight)) continue
    const channelAxis = node.opType === 'Gemm' && intAttribute(node, 'transB') === 1 ? 0 : axis
    sites.push({ kind: 'weight', where, apply: ({ pick, factor }) => perturb(weight, pick, factor) })
    const channels = weight.dims.at(channelAxis) ?? 1n
    if (channels > 1n)
      sites.push({ kind: 'channels', where, apply: ({ pick }) => swapChannels(weight, channelAxis, pick) })
    if (weight.dataType === DTYPES.float32.onnx)
      sites.push({ kind: 'bf16', where, apply: () => roundToBfloat16(weight) })
  }
  const bias = biasOf(node, constantOf)
  if (bias) sites.push({ kind: 'bias', where, apply: () => changeNumbers(bias, (numbers) => numbers.fill(0)) })
  const epsilon = epsilonSite(node, scope, constantOf)
  if (epsilon) sites.push({ kind: 'epsilon', where, apply: epsilon })
  return sites
}

function isEditable(tensor: TensorProto): boolean {
  const dtype = dtypeFromOnnx(tensor.dataType)
  if (!dtype || tensor.externalData.length > 0) return false
  return DTYPES[dtype].kind === 'float' || DTYPES[dtype].bits === 8 || dtype === 'int32'
}

function biasOf(node: NodeProto, constantOf: ConstantOf): TensorProto | undefined {
  const candidates = node.opType === 'Add' ? node.input : [node.input[BIASES[node.opType] ?? Infinity]]
  const bias = candidates
    .map(constantOf)
    .find((tensor) => tensor && (node.opType !== 'Add' || tensor.dims.length === 1))
  if (!bias || !isEditable(bias)) return undefined
  return read(bias).some((value) => value !== 0) ? bias : undefined
}

/** An attribute, or the small constant that a decomposed normalisation adds under its root. */
function epsilonSite(node: NodeProto, scope: NodeList, constantOf: ConstantOf): Site['apply'] | undefined {
  if (NORMALISATIONS.has(node.opType)) return ({ epsilon }) => setEpsilon(node, epsilon)
  if (node.opType !== 'Add' || !scope.nodes.some((next) => next.opType === 'Sqrt' && next.input[0] === node.output[0]))
    return
  const constant = node.input.map(constantOf).find((tensor) => tensor && elementCount(tensor.dims.map(Number)) === 1)
  return constant && isEditable(constant)
    ? ({ epsilon }) => changeNumbers(constant, (numbers) => numbers.fill(epsilon))
    : undefined
}

function setEpsilon(node: NodeProto, epsilon: number): void {
  const known = findAttribute(node, 'epsilon')
  if ((known?.f ?? 1e-5) === Math.fround(epsilon)) throw new Error('the epsilon would stay the same')
  if (known) known.f = epsilon
  else {
    const { FLOAT } = AttributeProto_AttributeType
    node.attribute.push(create(AttributeProtoSchema, { name: 'epsilon', type: FLOAT, f: epsilon }))
  }
}

function perturb(tensor: TensorProto, pick: number, factor: number): void {
  const isFloat = DTYPES[dtypeFromOnnx(tensor.dataType)!].kind === 'float'
  changeNumbers(tensor, (numbers) => {
    const at = Math.floor(pick * numbers.length)
    const value = numbers[at]!
    const largest = numbers.reduce((found, number) => Math.max(found, Math.abs(number)), 0)
    if (isFloat) numbers[at] = value === 0 ? largest * (factor - 1) : value * factor
    else numbers[at] = value > 0 ? value - 64 : value + 64
    if (tensor.dataType === DTYPES.uint8.onnx) numbers[at] = (value + 64) % 256
  })
}

function swapChannels(tensor: TensorProto, axis: number, pick: number): void {
  const dims = tensor.dims.map(Number)
  const at = axis < 0 ? dims.length + axis : axis
  const channels = dims[at]!
  const inner = elementCount(dims.slice(at + 1))
  const first = Math.floor(pick * channels)
  const second = (first + 1) % channels
  changeNumbers(tensor, (numbers) => {
    const before = numbers.slice()
    for (let i = 0; i < numbers.length; i++) {
      const channel = Math.floor(i / inner) % channels
      if (channel === first) numbers[i] = before[i + (second - first) * inner]!
      if (channel === second) numbers[i] = before[i + (first - second) * inner]!
    }
  })
}

function roundToBfloat16(tensor: TensorProto): void {
  changeNumbers(tensor, (numbers) => {
    const rounded = encodeNumbers('bfloat16', numbers)
    decodeNumbers('bfloat16', rounded, 0, numbers.length, numbers)
  })
}

function read(tensor: TensorProto): Float64Array {
  const { dtype, shape, bytes } = tensorFromProto(tensor)
  const numbers = new Float64Array(elementCount(shape))
  decodeNumbers(dtype, bytes, 0, numbers.length, numbers)
  return numbers
}

/** Changes a tensor's numbers in place; throws if they stay what they were. */
export function changeNumbers(tensor: TensorProto, change: (numbers: Float64Array) => void): void {
  const { dtype, shape } = tensorFromProto(tensor)
  const numbers = read(tensor)
  const before = numbers.slice()
  change(numbers)
  if (numbers.every((value, i) => Object.is(value, before[i]))) throw new Error('the fault would change nothing')
  Object.assign(tensor, tensorToProto(tensor.name, { dtype, shape, bytes: encodeNumbers(dtype, numbers) }))
}
