import { decodeNumbers } from '../../tensors/decode.ts'
import type { ModelProto, NodeProto, TensorProto } from '../generated/onnx-ml_pb.ts'
import { tensorFromProto } from '../tensors/tensor-proto.ts'
import { findAttribute, walkScopes } from '../walk.ts'

/** Operators whose integer constants (paddings, frames, ends, shapes) suggest a size or its lower bound. */
const TELLING = new Set(['Pad', 'STFT', 'DFT', 'Slice', 'Reshape', 'Expand', 'Resize', 'Gather', 'Range', 'Tile'])
const MOST = 8
const LONGEST = 16
const LARGEST = 65_536

/** Sizes that the constants of a graph suggest for what it leaves open, in the order of its nodes. */
export function suggestedSizes(model: ModelProto): number[] {
  const found = new Set<number>()
  for (const { nodes, graph } of walkScopes(model)) {
    const constants = new Map(graph?.initializer.map((tensor) => [tensor.name, tensor]))
    for (const node of nodes) constantsOf(node).forEach((tensor) => void constants.set(node.output[0]!, tensor))
    for (const node of nodes) for (const size of sizesAt(node, constants)) found.add(size)
  }
  return [...found].filter((size) => size > 1 && size <= LARGEST).slice(0, MOST)
}

function constantsOf(node: NodeProto): TensorProto[] {
  const tensor = node.opType === 'Constant' ? findAttribute(node, 'value')?.t : undefined
  return tensor && node.output[0] ? [tensor] : []
}

function sizesAt(node: NodeProto, constants: ReadonlyMap<string, TensorProto>): number[] {
  const kernel = findAttribute(node, 'kernel_shape')?.ints.map(Number) ?? []
  const read = TELLING.has(node.opType) ? node.input.slice(1).flatMap((name) => wholeNumbers(constants.get(name))) : []
  return [...kernel.filter((size) => size > LONGEST), ...read].map(Math.abs)
}

function wholeNumbers(proto: TensorProto | undefined): number[] {
  const count = proto?.dims.reduce((product, dim) => product * Number(dim), 1) ?? 0
  if (!proto || count === 0 || count > LONGEST || (proto.dataType !== 6 && proto.dataType !== 7)) return []
  if (proto.externalData.length > 0) return []
  const { dtype, bytes } = tensorFromProto(proto)
  const numbers = new Float64Array(count)
  decodeNumbers(dtype, bytes, 0, count, numbers)
  return [...numbers]
}
