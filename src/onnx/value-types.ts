import { type DType, dtypeFromOnnx } from '../domain/dtype.ts'
import type { FunctionProto, GraphProto, ModelProto, NodeProto, ValueInfoProto } from './generated/onnx-ml_pb.ts'
import { findAttribute, intAttribute, listGraphs, normaliseDomain } from './walk.ts'

/** Facts about a value, without shape inference. */
interface ValueFacts {
  readonly dtype: DType | undefined
  /** Known before the model runs. */
  readonly constant: boolean
}

export interface TypedNode {
  readonly node: NodeProto
  readonly inputs: readonly ValueFacts[]
  readonly outputs: readonly (DType | undefined)[]
}

const UNKNOWN: ValueFacts = { dtype: undefined, constant: false }
const INT64_OUTPUT = new Set(['Shape', 'Size', 'ArgMax', 'ArgMin', 'NonZero', 'NonMaxSuppression', 'SequenceLength'])
const BOOL_OUTPUT = new Set(
  'Equal Less LessOrEqual Greater GreaterOrEqual And Or Xor Not IsNaN IsInf OptionalHasElement'.split(' '),
)
const DTYPE_ATTRIBUTE = new Set(
  'RandomNormal RandomUniform RandomNormalLike RandomUniformLike EyeLike Multinomial Bernoulli'.split(' '),
)
/** The input whose dtype the output has, if not the first. */
const TYPED_BY_INPUT: Readonly<Record<string, number>> = { Where: 1, CastLike: 1, OneHot: 2, DequantizeLinear: 1 }

/**
 * Every node in order with the dtypes around it: those of sub-graphs before the node that holds them, those of functions at
 * each call. `only` limits the main graph.
 */
export function* typedNodes(proto: ModelProto, only?: ReadonlySet<NodeProto>): Generator<TypedNode> {
  if (!proto.graph) return
  const functions = new Map(proto.functions.map((fn) => [`${normaliseDomain(fn)}.${fn.name}.${fn.overload}`, fn]))
  yield* new Typing(functions).graph(proto.graph, new Names(null), only)
}

class Names {
  private readonly known = new Map<string, ValueFacts>()
  private readonly outer: Names | null
  constructor(outer: Names | null) {
    this.outer = outer
  }

  get(name: string): ValueFacts {
    return this.known.get(name) ?? this.outer?.get(name) ?? UNKNOWN
  }

  set(name: string, facts: ValueFacts): void {
    this.known.set(name, facts)
  }
}

class Typing {
  private readonly functions: ReadonlyMap<string, FunctionProto>
  constructor(functions: ReadonlyMap<string, FunctionProto>) {
    this.functions = functions
  }

  *graph(graph: GraphProto, names: Names, only?: ReadonlySet<NodeProto>): Generator<TypedNode> {
    for (const info of graph.input) names.set(info.name, { dtype: declared(info), constant: false })
    for (const { name, dataType } of graph.initializer) {
      names.set(name, { dtype: dtypeFromOnnx(dataType), constant: true })
    }
    for (const { values } of graph.sparseInitializer) {
      if (values) names.set(values.name, { dtype: dtypeFromOnnx(values.dataType), constant: true })
    }
    const infos = new Map([...graph.valueInfo, ...graph.output].map((info) => [info.name, declared(info)]))
    for (const node of graph.node) if (!only || only.has(node)) yield* this.node(node, names, infos)
  }

  private *node(node: NodeProto, names: Names, infos: ReadonlyMap<string, DType | undefined>): Generator<TypedNode> {
    const inputs = node.input.map((name) => (name ? names.get(name) : UNKNOWN))
    const inner = yield* this.inside(node, names, inputs)
    const outputs = node.output.map((name, i) => infos.get(name) ?? inner?.[i] ?? outputDType(node, inputs, i))
    const constant = isConstant(node, inputs)
    node.output.forEach((name, i) => void names.set(name, { dtype: outputs[i], constant }))
    yield { node, inputs, outputs }
  }

  /** Nodes of sub-graphs and of a called function; gives back the dtypes of their outputs. */
  private *inside(
    node: NodeProto,
    names: Names,
    inputs: readonly ValueFacts[],
  ): Generator<TypedNode, (DType | undefined)[] | undefined> {
    let found: (DType | undefined)[] | undefined
    for (const graph of node.attribute.flatMap(listGraphs)) {
      const local = new Names(names)
      yield* this.graph(graph, local)
      const outputs = graph.output.map((info) => local.get(info.name).dtype ?? declared(info))
      found ??= node.opType === 'Loop' ? outputs.slice(1) : outputs
    }
    const fn = this.functions.get(`${normaliseDomain(node)}.${node.opType}.${node.overload}`)
    if (!fn) return found
    const local = new Names(null)
    fn.input.forEach((name, i) => void local.set(name, inputs[i] ?? UNKNOWN))
    const infos = new Map(fn.valueInfo.map((info) => [info.name, declared(info)]))
    for (const part of fn.node) yield* this.node(part, local, infos)
    return fn.output.map((name) => local.get(name).dtype)
  }
}

function isConstant(node: NodeProto, inputs: readonly ValueFacts[]): boolean {
  if (node.opType.startsWith('Random') || node.attribute.some((attribute) => listGraphs(attribute).length > 0))
    return false
  return inputs.every(({ constant }, i) => constant || node.input[i] === '')
}

function declared({ type }: ValueInfoProto): DType | undefined {
  let inner = type?.value
  while (inner?.case === 'sequenceType' || inner?.case === 'optionalType') inner = inner.value.elemType?.value
  return inner?.case === 'tensorType' ? dtypeFromOnnx(inner.value.elemType) : undefined
}

function outputDType(node: NodeProto, inputs: readonly ValueFacts[], index: number): DType | undefined {
  const { opType } = node
  if (normaliseDomain(node) === '') {
    if (INT64_OUTPUT.has(opType) || (opType === 'TopK' && index === 1)) return 'int64'
    if (BOOL_OUTPUT.has(opType) || (opType === 'Dropout' && index === 1)) return 'bool'
    if (opType === 'Constant' || opType === 'ConstantOfShape') return constantDType(node)
    if (opType === 'MatMulInteger' || opType === 'ConvInteger') return 'int32'
    if (opType === 'DynamicQuantizeLinear') return index === 1 ? 'float32' : 'uint8'
    if (opType === 'QuantizeLinear') return quantisedDType(node, inputs)
    const to = intAttribute(node, opType === 'Cast' ? 'to' : 'dtype')
    if (to !== undefined && (opType === 'Cast' || DTYPE_ATTRIBUTE.has(opType))) return dtypeFromOnnx(to)
  }
  const typing = Object.hasOwn(TYPED_BY_INPUT, opType) ? TYPED_BY_INPUT[opType] : undefined
  return typing === undefined ? inputs.find(({ dtype }) => dtype)?.dtype : inputs[typing]?.dtype
}

/** Of QuantizeLinear: its zero point's dtype, or what the attribute says. */
export function quantisedDType(node: NodeProto, inputs: readonly ValueFacts[]): DType {
  return inputs[2]?.dtype ?? dtypeFromOnnx(intAttribute(node, 'output_dtype') ?? 0) ?? 'uint8'
}

function constantDType(node: NodeProto): DType | undefined {
  const tensor = findAttribute(node, 'value')?.t
  if (tensor) return dtypeFromOnnx(tensor.dataType)
  if (node.opType === 'ConstantOfShape') return 'float32'
  const [first] = node.attribute
  if (first?.name.startsWith('value_float')) return 'float32'
  return first?.name.startsWith('value_int') ? 'int64' : undefined
}
