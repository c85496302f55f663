import type { GraphProto, NodeProto, TensorProto } from '../generated/onnx-ml_pb.ts'
import { namesNeededBy } from '../names.ts'
import { findAttribute, normaliseDomain } from '../walk.ts'

/** Where the positions of a prompt can be cut off: at an input of a projection, or at an output of an If. */
export interface CutPlace {
  readonly node: NodeProto
  readonly position: number
  /** Values behind it, up to the output. */
  readonly passed: ReadonlySet<string>
}

/** Innermost graph first: names of outer ones are known inside. */
type Graphs = readonly GraphProto[]

/**
 * Walks back from the logits, (batch, positions, vocabulary), over nodes that treat every position alike and alone, to
 * the projection to the vocabulary. null: it was not found, so it cannot be told that cutting earlier gives the same.
 */
export function findProjection(graphs: Graphs, output: string): CutPlace | null {
  const graph = graphs[0]!
  const passed = new Set<string>()
  for (let value = output; ; ) {
    const node = graph.node.find((candidate) => candidate.output.includes(value))
    const isShared = passed.size > 0 && usesOf(graph, value) !== 1
    if (!node || isShared || passed.has(value)) return null
    passed.add(value)
    if (isOnnx(node, 'If')) return { node, position: node.output.indexOf(value), passed }
    if (isProjection(graphs, node)) return { node, position: 0, passed }
    const position = alikePosition(graphs, node)
    if (position === null) return null
    value = node.input[position]!
  }
}

function usesOf(graph: GraphProto, value: string): number {
  const uses = graph.node.filter((node) => namesNeededBy(node).has(value)).length
  return uses + graph.output.filter(({ name }) => name === value).length
}

function isOnnx(node: NodeProto, opType: string): boolean {
  return node.opType === opType && normaliseDomain(node) === ''
}

/** Every position of the first input gives the same position of the output, by a matrix that is known beforehand. */
function isProjection(graphs: Graphs, node: NodeProto): boolean {
  const [, weights = '', zeroPoint = ''] = node.input
  if (isOnnx(node, 'MatMul')) return isMatrix(graphs, weights)
  if (isOnnx(node, 'MatMulInteger')) return isMatrix(graphs, weights) && (!zeroPoint || isRow(graphs, zeroPoint))
  return node.domain === 'com.microsoft' && node.opType === 'MatMulNBits' && constantOf(graphs, weights) !== null
}

const UNARY = new Set(['Cast', 'Identity', 'Tanh', 'Neg'])
const BINARY = new Set(['Add', 'Sub', 'Mul', 'Div'])

/** The input whose positions are those of the output, each computed alone; null: it cannot be told. */
function alikePosition(graphs: Graphs, node: NodeProto): number | null {
  if (normaliseDomain(node) !== '') return null
  if (UNARY.has(node.opType)) return 0
  if (!BINARY.has(node.opType)) return null
  const [left = '', right = ''] = node.input
  if (isRow(graphs, right)) return 0
  return isRow(graphs, left) ? 1 : null
}

/** A value with two dimensions that is known before the model runs. */
function isMatrix(graphs: Graphs, name: string): boolean {
  const constant = constantOf(graphs, name)
  if (constant) return constant.dims.length === 2
  const node = producerOf(graphs, name)
  const keepsRank =
    node && normaliseDomain(node) === '' && ['Transpose', 'Cast', 'Identity', 'DequantizeLinear'].includes(node.opType)
  if (!keepsRank) return false
  return isMatrix(graphs, node.input[0] ?? '') && node.input.slice(1).every((rest) => constantOf(graphs, rest) !== null)
}

/** A value that is the same for all positions: a number, or a number for each logit. */
function isRow(graphs: Graphs, name: string): boolean {
  const constant = constantOf(graphs, name)
  // One with three dimensions may be what gives the logits their third.
  if (constant) return constant.dims.length < 3 && constant.dims.slice(0, -1).every((dim) => dim === 1n)
  const node = producerOf(graphs, name)
  if (!node || normaliseDomain(node) !== '') return false
  if (node.opType === 'Constant') return /^value_(int|float)s?$/.test(node.attribute[0]?.name ?? '')
  // Its scale and zero point are one number each.
  if (node.opType === 'DynamicQuantizeLinear') return node.output.indexOf(name) > 0
  const isElementwise = UNARY.has(node.opType) || BINARY.has(node.opType)
  return isElementwise && node.input.every((input) => isRow(graphs, input))
}

function constantOf(graphs: Graphs, name: string): TensorProto | null {
  for (const { initializer } of graphs) {
    const found = initializer.find((tensor) => tensor.name === name)
    if (found) return found
  }
  const node = producerOf(graphs, name)
  return (node && isOnnx(node, 'Constant') ? findAttribute(node, 'value')?.t : null) ?? null
}

function producerOf(graphs: Graphs, name: string): NodeProto | null {
  for (const { node } of graphs) {
    const found = node.find(({ output }) => output.includes(name))
    if (found) return found
  }
  return null
}
