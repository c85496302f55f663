import { remember } from '../domain/remember.ts'
import type { Tensor } from '../domain/tensor.ts'
import { elementCount } from '../domain/tensor.ts'
import { decodeNumbers } from '../tensors/decode.ts'
import type { FunctionProto, GraphProto, ModelProto, NodeProto, TensorProto } from './generated/onnx-ml_pb.ts'
import { isExternal } from './tensors/external-data.ts'
import { tensorFromProto } from './tensors/tensor-proto.ts'
import { findAttribute, intAttribute, listGraphs, nodeLabel, normaliseDomain, walkScopes } from './walk.ts'

/** A seed makes one runtime repeat itself; no two runtimes draw the same numbers from it. */
const ALWAYS_RANDOM = new Set(
  'RandomNormal RandomNormalLike RandomUniform RandomUniformLike Multinomial Bernoulli'.split(' '),
)
/** Their output depends only on the shape of their input. */
const SHAPE_ONLY = new Set(['Shape', 'Size', 'EyeLike'])
const SAME_SCALAR = new Set(['Identity', 'Cast', 'CastLike', 'Reshape', 'Squeeze', 'Unsqueeze'])

const MAX_STEPS = 100

/** Single numbers that the graph's inputs are given: they may decide whether a Dropout is at work. */
export type GivenScalars = ReadonlyMap<string, number>

/** Whether the model has any op that may be random. */
export function mayBeRandom(proto: ModelProto): boolean {
  return [...walkScopes(proto)].some(({ nodes }) =>
    nodes.some(({ opType }) => opType === 'Dropout' || ALWAYS_RANDOM.has(opType)),
  )
}

/** Finds the node whose random numbers reach an output, through sub-graphs and functions too; null: there is none. */
export function randomOrigins(proto: ModelProto, given: GivenScalars): (output: string) => string | null {
  if (!proto.graph || !mayBeRandom(proto)) return () => null
  const search = new Search(proto, given)
  const body = graphBody(proto.graph, { caller: null, where: '', opset: opsetOf(proto.opsetImport) })
  return (output) => search.from(body, output)
}

/** A graph, a sub-graph or a function at one of its calls. */
interface Body extends Place {
  readonly producers: ReadonlyMap<string, { readonly node: NodeProto; readonly index: number }>
  readonly constants: ReadonlyMap<string, TensorProto>
  readonly inputs: readonly string[]
  readonly outputs: readonly string[]
  /** Names it does not define are those of its caller's scope. */
  readonly captures: boolean
  /** Of sub-graphs and of calls. */
  readonly inner: Map<GraphProto | NodeProto, Body>
}

interface Place {
  readonly caller: { readonly body: Body; readonly node: NodeProto } | null
  readonly where: string
  readonly opset: number
}

interface Value {
  readonly body: Body
  readonly name: string
}

function graphBody(graph: GraphProto, place: Place): Body {
  return {
    ...place,
    producers: producersOf(graph.node),
    constants: new Map(graph.initializer.map((tensor) => [tensor.name, tensor])),
    inputs: graph.input.map(({ name }) => name),
    outputs: graph.output.map(({ name }) => name),
    captures: place.caller !== null,
    inner: new Map(),
  }
}

function functionBody(fn: FunctionProto, place: Place): Body {
  const { input: inputs, output: outputs } = fn
  const own = { producers: producersOf(fn.node), constants: new Map<string, TensorProto>(), inputs, outputs }
  return { ...place, ...own, captures: false, inner: new Map() }
}

function subBody(body: Body, node: NodeProto, graph: GraphProto): Body {
  return remember(body.inner, graph, () =>
    graphBody(graph, { caller: { body, node }, where: ` in ${nodeLabel(node)}`, opset: body.opset }),
  )
}

function callBody(body: Body, node: NodeProto, fn: FunctionProto): Body {
  const opset = opsetOf(fn.opsetImport, body.opset)
  return remember(body.inner, node, () =>
    functionBody(fn, { caller: { body, node }, where: ` in function ${fn.name}`, opset }),
  )
}

function producersOf(nodes: readonly NodeProto[]): Body['producers'] {
  return new Map(nodes.flatMap((node) => node.output.map((name, index) => [name, { node, index }] as const)))
}

function opsetOf(imports: readonly { readonly domain: string; readonly version: bigint }[], otherwise = 1): number {
  const own = imports.find((one) => normaliseDomain(one) === '')
  return own ? Number(own.version) : otherwise
}

class Search {
  readonly #functions: ReadonlyMap<string, FunctionProto>
  readonly #given: GivenScalars

  constructor(proto: ModelProto, given: GivenScalars) {
    this.#functions = new Map(proto.functions.map((fn) => [callKey(fn.name, fn), fn]))
    this.#given = given
  }

  from(body: Body, name: string): string | null {
    const seen = new Map<Body, Set<string>>()
    const wanted: Value[] = [{ body, name }]
    for (let value = wanted.pop(); value; value = wanted.pop()) {
      const names = remember(seen, value.body, () => new Set())
      if (names.has(value.name)) continue
      names.add(value.name)
      const made = value.body.constants.has(value.name) ? undefined : value.body.producers.get(value.name)
      if (made && this.#isRandom(value.body, made.node)) return `${nodeLabel(made.node)}${value.body.where}`
      wanted.push(...(made ? this.#sources(value.body, made.node, made.index) : this.#outside(value)))
    }
    return null
  }

  #isRandom(body: Body, node: NodeProto): boolean {
    if (normaliseDomain(node) !== '' || this.#called(node)) return false
    return ALWAYS_RANDOM.has(node.opType) || (node.opType === 'Dropout' && this.#dropsOut(body, node))
  }

  /** If unknown, it may be on. */
  #dropsOut(body: Body, node: NodeProto): boolean {
    if (body.opset < 7) return intAttribute(node, 'is_test') !== 1 && findAttribute(node, 'ratio')?.f !== 0
    const [, ratio, training] = node.input
    if (body.opset < 12 || !training || this.#scalar({ body, name: training }) === 0) return false
    return !ratio || this.#scalar({ body, name: ratio }) !== 0
  }

  #called(node: NodeProto): FunctionProto | undefined {
    return this.#functions.get(callKey(node.opType, node))
  }

  /** The values that output `index` of a node is made of. */
  #sources(body: Body, node: NodeProto, index: number): Value[] {
    const at = (...names: (string | undefined)[]) => names.flatMap((name) => (name ? [{ body, name }] : []))
    const fn = this.#called(node)
    if (fn) return outputsOf([callBody(body, node, fn)], index)
    const bodies = node.attribute.flatMap(listGraphs).map((graph) => subBody(body, node, graph))
    switch (normaliseDomain(node) === '' ? node.opType : null) {
      case 'If':
        return [...at(node.input[0]), ...outputsOf(bodies, index)]
      case 'Loop':
        return [
          ...at(node.input[0], node.input[1], node.input[index + 2]),
          ...outputsOf(bodies, 0),
          ...outputsOf(bodies, index + 1),
        ]
      case 'Scan':
        return outputsOf(bodies, index)
      case 'Dropout':
        return index === 0 ? at(node.input[0]) : []
      default:
        return SHAPE_ONLY.has(node.opType) ? [] : [...at(...node.input), ...outputsOf(bodies, index)]
    }
  }

  /** The sources of a name that no node in the body computes: an input's value and what a loop feeds back. */
  #outside({ body, name }: Value): Value[] {
    const { caller, inputs, captures } = body
    const position = inputs.indexOf(name)
    if (!caller || body.constants.has(name)) return []
    if (position < 0) return captures ? [{ body: caller.body, name }] : []
    const passed = passedAt(body, position)
    const again = fedBack(body, position)
    return [
      ...(passed ? [{ body: caller.body, name: passed }] : []),
      ...(again === undefined ? [] : [{ body, name: again }]),
    ]
  }

  /** A single number that is known before the model runs; null: none. */
  #scalar({ body, name }: Value, steps = 0): number | null {
    const tensor = body.constants.get(name)
    if (steps > MAX_STEPS) return null
    if (!body.caller && this.#given.has(name)) return this.#given.get(name)!
    if (tensor) return scalarIn(tensor)
    const made = body.producers.get(name)?.node
    if (made?.opType === 'Constant') return constantIn(made)
    if (made) return SAME_SCALAR.has(made.opType) ? this.#scalar({ body, name: made.input[0] ?? '' }, steps + 1) : null
    const [from, ...others] = this.#outside({ body, name })
    return from && others.length === 0 ? this.#scalar(from, steps + 1) : null
  }
}

function callKey(name: string, place: { readonly domain: string; readonly overload: string }): string {
  return JSON.stringify([normaliseDomain(place), name, place.overload])
}

function outputsOf(bodies: readonly Body[], index: number): Value[] {
  return bodies.flatMap((body) => (body.outputs[index] ? [{ body, name: body.outputs[index] }] : []))
}

/** What the caller passes for an input of a body; Scan had one more input before opset 9. */
function passedAt({ caller, inputs }: Body, position: number): string | undefined {
  const { node } = caller!
  if (node.opType === 'Loop' && position === 0) return undefined
  const skipped = node.opType === 'Scan' ? Math.max(0, node.input.length - inputs.length) : 0
  return node.input[position + skipped]
}

/** The body output that feeds this input in the next iteration. */
function fedBack({ caller, inputs, outputs }: Body, position: number): string | undefined {
  const { node } = caller!
  if (node.opType === 'Loop') return position === 0 ? undefined : outputs[position - 1]
  if (node.opType !== 'Scan') return undefined
  return position < inputs.length - (intAttribute(node, 'num_scan_inputs') ?? 0) ? outputs[position] : undefined
}

function constantIn(node: NodeProto): number | null {
  const [value] = node.attribute
  if (value?.t) return scalarIn(value.t)
  if (value?.name === 'value_int') return Number(value.i)
  return value?.name === 'value_float' ? value.f : null
}

function scalarIn(tensor: TensorProto): number | null {
  return isExternal(tensor) || tensor.dims.some((size) => size !== 1n) ? null : readScalar(tensorFromProto(tensor))
}

/** The value of a one-element tensor; null for others and for strings. */
export function readScalar({ dtype, shape, bytes }: Tensor): number | null {
  if (elementCount(shape) !== 1 || dtype === 'string') return null
  const number = new Float64Array(1)
  decodeNumbers(dtype, bytes, 0, 1, number)
  return number[0]!
}
