import type { ComputeDType } from '../compare/contract.ts'
import { PRECISIONS } from '../compare/rules/tolerances.ts'
import { type DType, dtypeKind } from '../domain/dtype.ts'
import type { GraphProto, NodeProto } from './generated/onnx-ml_pb.ts'
import type { ModelFacts } from './model.ts'
import { quantisedDType, type TypedNode, typedNodes } from './value-types.ts'
import { intAttribute, listGraphs, normaliseDomain } from './walk.ts'

const RANKS = new Map<DType, number>(PRECISIONS.map((dtype, rank) => [dtype, rank]))
const INT8 = PRECISIONS.indexOf('int8')

/** Ops that move or convert values without computing with them. */
const MOVEMENT = new Set(
  (
    'Identity Reshape Squeeze Unsqueeze Flatten Transpose Slice Split Concat Gather GatherElements GatherND ScatterElements ' +
    'ScatterND Scatter Expand Tile Pad Cast CastLike BitCast Constant ConstantOfShape Shape Size If Loop Scan Where Compress ' +
    'SpaceToDepth DepthToSpace Dropout OneHot DequantizeLinear QuantizeLinear SequenceAt SequenceConstruct SequenceEmpty ' +
    'SequenceInsert SequenceErase SequenceMap SplitToSequence ConcatFromSequence Optional OptionalGetElement ' +
    'OptionalHasElement Trilu ReverseSequence NonZero Unique Equal IsNaN IsInf'
  ).split(' '),
)

const QUANTISED_OPS = new Set(['DynamicQuantizeLinear', 'MatMulInteger', 'ConvInteger', 'QLinearConv', 'QLinearMatMul'])
const MICROSOFT_QUANTISED =
  /^(QLinear.*|QGemm|QAttention|QOrdered.*|QEmbedLayerNormalization|DynamicQuantize(MatMul|LSTM)|MatMulIntegerToFloat)$/

/** The coarsest precision that a graph computes in, for the whole model or for one output. */
export function computeDType(model: ModelFacts, output?: string): ComputeDType {
  let consumed: ReadonlySet<string> | undefined
  const isConsumed = (name: string) => {
    consumed ??= consumedNames(model)
    return consumed.has(name)
  }
  const only = output === undefined ? undefined : ancestorsOf(model.graph, output)
  let coarsest = -1
  for (const typed of typedNodes(model.proto, only)) {
    coarsest = Math.max(coarsest, ...precisionsOf(typed, isConsumed))
  }
  return PRECISIONS[coarsest] ?? movedDType(model)
}

/** Whether activations are quantised with scales computed from them. */
export function quantisesDynamically(model: ModelFacts): boolean {
  return [...typedNodes(model.proto)].some(isDynamicQuantiser)
}

export function isDynamicQuantiser({ node, inputs }: TypedNode): boolean {
  if (inputs[0]?.constant) return false
  if (normaliseDomain(node) === 'com.microsoft') {
    return /^DynamicQuantize(MatMul|LSTM)$/.test(node.opType) || isInt8NBits(node)
  }
  if (normaliseDomain(node) !== '') return false
  return node.opType === 'DynamicQuantizeLinear' || (node.opType === 'QuantizeLinear' && inputs[1]?.constant === false)
}

/** 4-bit weights are converted to floats before multiplying, except at this accuracy level. */
function isInt8NBits(node: NodeProto): boolean {
  return node.opType === 'MatMulNBits' && intAttribute(node, 'accuracy_level') === 4
}

/** Indices into PRECISIONS; negative if a node says nothing. */
function precisionsOf(typed: TypedNode, isConsumed: (name: string) => boolean): number[] {
  const { node, inputs, outputs } = typed
  if (inputs.every(({ constant }) => constant)) return []
  if (node.opType === 'QuantizeLinear') return [Math.max(INT8, rankOf(quantisedDType(node, inputs)))]
  if (isQuantised(node)) return [INT8]
  if (isRounding(typed) && node.output.some(isConsumed)) return [rankOf(outputs[0])]
  return MOVEMENT.has(node.opType) ? [] : [...inputs.map(({ dtype }) => rankOf(dtype)), ...outputs.map(rankOf)]
}

function isQuantised(node: NodeProto): boolean {
  const domain = normaliseDomain(node)
  if (domain === 'com.microsoft') return MICROSOFT_QUANTISED.test(node.opType) || isInt8NBits(node)
  return domain === '' && QUANTISED_OPS.has(node.opType)
}

/** A cast of activations to a coarser dtype rounds them, although nothing is computed. */
function isRounding({ node, inputs, outputs }: TypedNode): boolean {
  return /^Cast(Like)?$/.test(node.opType) && rankOf(outputs[0]) > rankOf(inputs[0]?.dtype ?? 'float32')
}

/** Negative for integers that are not quantised values (shapes, indices, bytes): they say nothing about precision. */
function rankOf(dtype: DType | undefined): number {
  if (dtype?.startsWith('float8')) return RANKS.get(dtype.startsWith('float8e5m2') ? 'float8e5m2' : 'float8e4m3fn')!
  return dtype && dtypeKind(dtype) === 'float' ? (RANKS.get(dtype) ?? -1) : -1
}

/** Values that are only moved or cast stay exact (or rounded to their dtype), so no coarser precision is granted. */
function movedDType({ inputs, outputs }: ModelFacts): ComputeDType {
  const floats = [...inputs, ...outputs].filter(({ dtype }) => rankOf(dtype ?? undefined) >= 0)
  return floats.length > 0 && floats.every(({ dtype }) => dtype === 'float64') ? 'float64' : 'float32'
}

function consumedNames(model: ModelFacts): Set<string> {
  return new Set([...typedNodes(model.proto)].flatMap(({ node }) => node.input))
}

/** The nodes of a graph that an output depends on, through captured names too, in whatever order they are listed. */
function ancestorsOf(graph: GraphProto, output: string): Set<NodeProto> {
  const producers = new Map(graph.node.flatMap((node) => node.output.map((name) => [name, node] as const)))
  const found = new Set<NodeProto>()
  const wanted = [output]
  for (let name = wanted.pop(); name !== undefined; name = wanted.pop()) {
    const node = producers.get(name)
    if (!node || found.has(node)) continue
    found.add(node)
    wanted.push(...namesRead(node))
  }
  return found
}

function namesRead(node: NodeProto): string[] {
  const inner = node.attribute.flatMap(listGraphs)
  const captured = inner.flatMap((graph) => [...graph.node.flatMap(namesRead), ...graph.output.map(({ name }) => name)])
  return [...node.input, ...captured].filter(Boolean)
}
