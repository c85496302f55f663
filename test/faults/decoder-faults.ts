import { fromBinary, toBinary } from '@bufbuild/protobuf'
import { type ModelProto, ModelProtoSchema, type NodeProto } from '../../src/onnx/generated/onnx-ml_pb.ts'
import { tensorFromProto } from '../../src/onnx/tensors/tensor-proto.ts'
import { AddedNodes, nodeNamed, numbersOf, tensorNamed } from '../support/added-nodes.ts'
import { PART_FAULTS } from './decoder-part-faults.ts'
import { changeNumbers } from './faults.ts'

export type DecoderFaultKind = keyof typeof PLANT

/** A copy of the export of a llama that `assay micro` wrote, with one fault of a size. */
export function plantDecoderFault(bytes: Uint8Array, kind: DecoderFaultKind, size: number): Uint8Array {
  const proto = fromBinary(ModelProtoSchema, bytes)
  PLANT[kind](proto, size)
  return toBinary(ModelProtoSchema, proto)
}

/** The layer that has the fault where not all of them do. */
const LAYER = 2
const ATTENTION = `/model/layers.${LAYER}/self_attn`

const PLANT = {
  /** Scores of all layers times 1 + size. */
  'attention-scale': (proto: ModelProto, size: number) => {
    const [, scale] = nodeNamed(proto, `${ATTENTION}/Mul`).input
    changeNumbers(tensorNamed(proto, scale!), (numbers) => scaleBy(numbers, () => 1 + size))
  },
  /** This part of the newest cached position, in one layer, is what lay in the slot before. */
  'stale-slot': (proto: ModelProto, size: number) => {
    for (const which of ['key', 'value']) makeStale(proto, which, size)
  },
  /** Queries of the first and the last head of one layer, which share no keys: 0.5 makes them equal, 1 swaps them. */
  'swapped-heads': (proto: ModelProto, size: number) => {
    const weight = tensorNamed(proto, nodeNamed(proto, `${ATTENTION}/q_proj/MatMul`).input[1]!)
    const [, , heads, headSize] = numbersOf(proto, nodeNamed(proto, `${ATTENTION}/q_proj/Reshape`).input[1]!)
    changeNumbers(weight, (numbers) => blendColumns(numbers, Number(heads), Number(headSize), size))
  },
  /** Of all layers times 1 + size. */
  'rotary-base': (proto: ModelProto, size: number) => {
    changeNumbers(tensorNamed(proto, 'model.rotary_emb.inv_freq'), (numbers) =>
      scaleBy(numbers, (i) => (1 + size) ** (-i / numbers.length)),
    )
  },
  /** Every sum of one layer's matrix products is rounded to bf16 this many times on its way. */
  'bf16-sums': (proto: ModelProto, size: number) => {
    for (const node of weightProducts(proto, `/model/layers.${LAYER}/`)) roundSums(proto, node, size)
  },
  /** The matrices of all layers, rounded to multiples of this part of their largest weight; 1/127 is int8. */
  'rounded-weights': (proto: ModelProto, size: number) => {
    for (const node of weightProducts(proto, '/model/layers.')) {
      changeNumbers(tensorNamed(proto, node.input[1]!), (numbers) => roundToSteps(numbers, size))
    }
  },
  /** So many weights of one layer are no numbers. */
  'nan-weights': (proto: ModelProto, size: number) => {
    const weight = tensorNamed(proto, nodeNamed(proto, `${ATTENTION}/o_proj/MatMul`).input[1]!)
    changeNumbers(weight, (numbers) => numbers.fill(Number.NaN, 0, size))
  },
  ...PART_FAULTS,
} as const

function scaleBy(numbers: Float64Array, factor: (i: number) => number): void {
  for (let i = 0; i < numbers.length; i++) numbers[i]! *= factor(i)
}

function roundToSteps(numbers: Float64Array, part: number): void {
  const step = part * numbers.reduce((most, value) => Math.max(most, Math.abs(value)), 0)
  for (let i = 0; i < numbers.length; i++) numbers[i] = Math.round(numbers[i]! / step) * step
}

/** Of a (hidden, heads · head size) matrix. */
function blendColumns(numbers: Float64Array, heads: number, headSize: number, part: number): void {
  const width = heads * headSize
  for (let row = 0; row < numbers.length; row += width) {
    for (let column = row; column < row + headSize; column++) {
      const other = column + width - headSize
      const [first, last] = [numbers[column]!, numbers[other]!]
      numbers[column] = (1 - part) * first + part * last
      numbers[other] = (1 - part) * last + part * first
    }
  }
}

/** Attention reads a copy of the cache; what goes on to the next step is right. */
function makeStale(proto: ModelProto, which: string, part: number): void {
  const { node: nodes } = proto.graph!
  const whole = nodeNamed(proto, `${ATTENTION}/cache_${which}/Concat`)
  const [past, fresh] = whole.input
  const [present] = whole.output
  const readers = nodes.filter(({ input }) => input.includes(present!))
  const added = new AddedNodes(proto, `stale_${which}`)
  const slots = (from: number, to: number) => added.slice(past!, from, to)
  const own = added.add('Mul', [slots(-1, Number.MAX_SAFE_INTEGER), added.number(1 - part)])
  const stale = added.add('Mul', [slots(-2, -1), added.number(part)])
  const read = added.concat([slots(0, -1), added.add('Add', [own, stale]), fresh!])
  nodes.splice(nodes.indexOf(whole) + 1, 0, ...added.nodes)
  for (const node of readers) node.input = node.input.map((name) => (name === present ? read : name))
}

/** x·W as a sum over blocks of the inner dimension that is rounded after every block. */
function roundSums(proto: ModelProto, node: NodeProto, roundings: number): void {
  const { node: nodes } = proto.graph!
  const [x, weight] = node.input
  const [output] = node.output
  const added = new AddedNodes(proto, node.name)
  const { shape, bytes } = tensorFromProto(tensorNamed(proto, weight!))
  const [inner, width] = [shape[0]!, shape[1]!]
  let sum: string | null = null
  for (let block = 0; block < roundings; block++) {
    const [from, to] = [block, block + 1].map((i) => Math.round((i * inner) / roundings))
    const part = bytes.slice(from! * width * 4, to! * width * 4)
    const factor = added.initializer({ dtype: 'float32', shape: [to! - from!, width], bytes: part })
    const product = added.add('MatMul', [added.slice(x!, from!, to!, -1), factor])
    sum = added.roundToBfloat16(sum === null ? product : added.add('Add', [sum, product]))
  }
  added.nodes.at(-1)!.output = [output!]
  nodes.splice(nodes.indexOf(node), 1, ...added.nodes)
}

function weightProducts(proto: ModelProto, prefix: string): NodeProto[] {
  return proto.graph!.node.filter(
    ({ opType, name, input }) => opType === 'MatMul' && name.startsWith(prefix) && input[1]!.endsWith('.MatMul.weight'),
  )
}
