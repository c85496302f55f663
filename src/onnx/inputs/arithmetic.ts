import type { Arithmetic } from '../../compare/contract.ts'
import { elementCount } from '../../domain/tensor.ts'
import type { GraphProto, NodeProto } from '../generated/onnx-ml_pb.ts'
import { intAttribute, normaliseDomain } from '../walk.ts'

type Shape = readonly number[]

/** Facts about a node's context. */
export interface NodeShapes {
  readonly input: Shape
  readonly output: Shape
  /** The opset version of the node. */
  readonly opset: number
}

/** Sigmoid is computed as 1/2 plus an odd function, even where the sum is nearly 0. */
const AROUND_ONE = new Set(['Sigmoid'])

export function findArithmetic(node: NodeProto, shapes: NodeShapes): Arithmetic {
  return { terms: summedTerms(node, shapes), aroundOne: normaliseDomain(node) === '' && AROUND_ONE.has(node.opType) }
}

const MOVING = new Set(
  'Identity Reshape Squeeze Unsqueeze Flatten Transpose Slice Gather Split DepthToSpace SpaceToDepth'.split(' '),
)

/** Whether a value's numbers were computed around 1 and only moved since. */
export function isAroundOne({ node }: GraphProto, value: string): boolean {
  const makers = new Map(node.flatMap((maker) => maker.output.map((name) => [name, maker])))
  const seen = new Set<NodeProto>()
  let maker = makers.get(value)
  while (maker && MOVING.has(maker.opType) && !seen.has(maker)) {
    seen.add(maker)
    maker = makers.get(maker.input[0] ?? '')
  }
  return maker !== undefined && normaliseDomain(maker) === '' && AROUND_ONE.has(maker.opType)
}

/** Since then Softmax goes along one axis; before, over all axes from there on. */
const SOFTMAX_ALONG_AXIS = 13

const REDUCING = /^(Reduce(Mean|Sum|SumSquare|L1|L2|LogSum|LogSumExp)|Global(Average|Lp)Pool)$/

/**
 * How many numbers an op adds up to make one: the rounding error of a sum grows with them. Products of matrices are not
 * counted, their terms have both signs and their sums are blocked everywhere.
 */
function summedTerms(node: NodeProto, { input, output, opset }: NodeShapes): number {
  const { opType } = node
  if (normaliseDomain(node) !== '') return 1
  if (REDUCING.test(opType)) return elementCount(input) / Math.max(elementCount(output), 1)
  const from = (axis: number) => elementCount(input.slice(axis < 0 ? axis + input.length : axis))
  switch (opType) {
    case 'InstanceNormalization':
      return from(2)
    case 'GroupNormalization':
      return from(1) / Math.max(intAttribute(node, 'num_groups') ?? 1, 1)
    case 'MeanVarianceNormalization':
      return elementCount(input) / Math.max(input[1] ?? 1, 1)
    case 'LayerNormalization':
    case 'RMSNormalization':
      return from(intAttribute(node, 'axis') ?? -1)
    case 'Softmax':
    case 'LogSoftmax':
      if (opset < SOFTMAX_ALONG_AXIS) return from(intAttribute(node, 'axis') ?? 1)
      return input.at(intAttribute(node, 'axis') ?? -1) ?? 1
    case 'CumSum':
      return Math.max(1, ...input)
    default:
      return 1
  }
}
