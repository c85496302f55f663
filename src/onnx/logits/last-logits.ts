import { create, fromBinary } from '@bufbuild/protobuf'
import {
  AttributeProto_AttributeType,
  AttributeProtoSchema,
  type GraphProto,
  ModelProtoSchema,
  type NodeProto,
  NodeProtoSchema,
  TensorShapeProto_DimensionSchema,
  type ValueInfoProto,
} from '../generated/onnx-ml_pb.ts'
import { type OnnxModel, writeModel } from '../model.ts'
import { namesDefinedIn, renameIn } from '../names.ts'
import { referWeights } from '../tensors/refer-weights.ts'
import { findAttribute, nodeLabel, normaliseDomain, walkScopes } from '../walk.ts'
import { constantNode } from './constant-node.ts'
import { type CutPlace, findProjection } from './find-projection.ts'

/** Changes whenever the edit produces a different model. */
export const LAST_LOGITS_EDIT = 1

export interface LastLogits {
  /** null: the model stays as it is. */
  readonly bytes: Uint8Array | null
  /** What was done, or why nothing was done. */
  readonly note: string
}

/** The input that says how many positions need logits, if the model has it. */
const KEEP_INPUTS = new Set(['num_logits_to_keep', 'logits_to_keep'])

/**
 * A copy of a decoder that gives the logits of the last position alone: a prompt's other positions are cut off before
 * the projection to the vocabulary, which would make a row of logits for each of them.
 */
export function keepLastLogits(model: OnnxModel): LastLogits {
  const reason = whyNot(model)
  if (reason !== null) return { bytes: null, note: reason }
  // Parsing again costs a millisecond and leaves the original alone; weights are views into the same bytes.
  const proto = fromBinary(ModelProtoSchema, model.bytes)
  const graph = proto.graph!
  const used = new Set([...walkScopes(proto)].flatMap(({ graph: inner }) => (inner ? [...namesDefinedIn(inner)] : [])))
  const cutting = new Cutting(model.opsets.get('')!, used)
  const output = graph.output.find(({ name }) => name === LOGITS)!
  cutting.cutMain(graph, output)
  const edited = { ...graph, initializer: referWeights(graph.initializer, model) }
  return { bytes: writeModel({ ...proto, graph: edited }), note: cutting.note }
}

const LOGITS = 'logits'

function whyNot({ inputs, outputs, opsets }: OnnxModel): string | null {
  const asked = inputs.find(({ name }) => KEEP_INPUTS.has(name))
  if (asked) return `logits of the last position alone, which "${asked.name}" asks for`
  const logits = outputs.find(({ name }) => name === LOGITS)
  if (logits?.shape?.length !== 3)
    return 'logits of all positions: the graph declares no "logits" with three dimensions'
  if (logits.shape[1] === 1) return 'logits of the last position alone, as exported'
  return opsets.has('') ? null : 'logits of all positions: the graph has none of ONNX’s own operators'
}

class Cutting {
  readonly #opset: number
  readonly #used: Set<string>
  readonly #before: string[] = []
  readonly #behind: string[] = []

  constructor(opset: number, used: Set<string>) {
    this.#opset = opset
    this.#used = used
  }

  get note(): string {
    if (this.#behind.length === 0) return `logits of the last position alone, cut before ${this.#before.join(' and ')}`
    return `logits of all positions are computed and then cut, which takes their memory: no projection to the vocabulary was recognised before ${this.#behind.join(' and ')}`
  }

  cutMain(graph: GraphProto, output: ValueInfoProto): void {
    if (!this.#cutBefore([graph], output)) {
      const whole = this.#freshName()
      for (const node of graph.node) renameIn(node, new Map([[output.name, whole]]))
      graph.node.push(...this.#slice(whole, output.name))
      this.#behind.push(`"${output.name}"`)
    }
    declareOne(output)
  }

  #cutBranch(graphs: readonly GraphProto[], index: number): void {
    const graph = graphs[0]!
    const output = graph.output[index]!
    const isTwice = graph.output.filter(({ name }) => name === output.name).length > 1
    if (isTwice || !this.#cutBefore(graphs, output)) {
      this.#behind.push(`"${output.name}"`)
      const last = this.#freshName()
      graph.node.push(...this.#slice(output.name, last))
      output.name = last
    }
    declareOne(output)
  }

  /** Cuts what goes into the projection, in the innermost of these graphs or in the branches of an If there. */
  #cutBefore(graphs: readonly GraphProto[], { name }: ValueInfoProto): boolean {
    const graph = graphs[0]!
    const place = findProjection(graphs, name)
    if (!place) return false
    forgetShapes(graph, place.passed)
    if (place.node.opType === 'If' && normaliseDomain(place.node) === '') this.#cutIf(graphs, place)
    else this.#cutInput(graph, place)
    return true
  }

  #cutIf(graphs: readonly GraphProto[], { node, position }: CutPlace): void {
    for (const branch of ['then_branch', 'else_branch']) {
      const body = findAttribute(node, branch)?.g
      if (body) this.#cutBranch([body, ...graphs], position)
    }
  }

  #cutInput(graph: GraphProto, { node, position }: CutPlace): void {
    const last = this.#freshName()
    graph.node.splice(graph.node.indexOf(node), 0, ...this.#slice(node.input[position]!, last))
    node.input[position] = last
    this.#before.push(nodeLabel(node))
  }

  /** The last position of (batch, positions, …), which stays a dimension. */
  #slice(input: string, output: string): NodeProto[] {
    const bounds = { starts: [-1n], ends: [2n ** 63n - 1n], axes: [1n] }
    if (this.#opset < 10) {
      const attribute = Object.entries(bounds).map(([name, ints]) =>
        create(AttributeProtoSchema, { name, type: AttributeProto_AttributeType.INTS, ints }),
      )
      return [create(NodeProtoSchema, { opType: 'Slice', name: output, input: [input], output: [output], attribute })]
    }
    const constants = Object.values(bounds).map((values) => constantNode(this.#freshName(), values))
    const names = constants.map((node) => node.output[0]!)
    const slice = create(NodeProtoSchema, { opType: 'Slice', name: output, input: [input, ...names], output: [output] })
    return [...constants, slice]
  }

  #freshName(): string {
    for (let i = 0; ; i++) {
      const name = `assay_last_${i}`
      if (this.#used.has(name)) continue
      this.#used.add(name)
      return name
    }
  }
}

/** What was declared of these holds for all positions. */
function forgetShapes(graph: GraphProto, names: ReadonlySet<string>): void {
  graph.valueInfo = graph.valueInfo.filter(({ name }) => !names.has(name))
}

function declareOne({ type }: ValueInfoProto): void {
  const shape = type?.value.case === 'tensorType' ? type.value.value.shape : undefined
  if (shape?.dim[1]) shape.dim[1] = create(TensorShapeProto_DimensionSchema, { value: { case: 'dimValue', value: 1n } })
}
