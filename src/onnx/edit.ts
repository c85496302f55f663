import { create, fromBinary } from '@bufbuild/protobuf'
import { DTYPES, type DType } from '../domain/dtype.ts'
import { UsageError } from '../domain/errors.ts'
import { decodeNumbers } from '../tensors/decode.ts'
import { encodeNumbers } from '../tensors/encode.ts'
import {
  type AttributeProto,
  AttributeProto_AttributeType,
  AttributeProtoSchema,
  ModelProtoSchema,
  type NodeProto,
  NodeProtoSchema,
  type OperatorSetIdProto,
  OperatorSetIdProtoSchema,
} from './generated/onnx-ml_pb.ts'
import { isDynamicQuantiser } from './graph-facts.ts'
import { type OnnxModel, writeModel } from './model.ts'
import { tensorToProto } from './tensors/tensor-proto.ts'
import { typedNodes } from './value-types.ts'
import { normaliseDomain, walkScopes } from './walk.ts'

/**
 * A copy of a model in which every element of a dynamic quantiser's input moves by at most `relative` of itself, by another
 * part of it for each element and `wave`. A factor common to all would hardly do anything: a quantiser takes its scale from
 * the same elements. Weights outside the file are still looked for in the model's folder.
 */
export function nudgeQuantisers(model: OnnxModel, relative: number, wave: number): Uint8Array {
  // Parsing again costs a millisecond and leaves the original alone; weights are views into the same bytes.
  const proto = fromBinary(ModelProtoSchema, model.bytes)
  const dtypes = new Map<NodeProto, DType>()
  for (const typed of typedNodes(proto)) {
    if (isDynamicQuantiser(typed)) dtypes.set(typed.node, typed.inputs[0]?.dtype ?? 'float32')
  }
  const freshName = nameMaker(usedNames(model))
  for (const { nodes } of walkScopes(proto)) {
    for (const node of nodes.filter((candidate) => dtypes.has(candidate))) {
      nodes.splice(nodes.indexOf(node), 0, ...nudge(node, { dtype: dtypes.get(node)!, relative, wave }, freshName))
    }
  }
  for (const { opsetImport } of [proto, ...proto.functions]) requireOnnxOps(opsetImport)
  return writeModel(proto)
}

/** A graph of custom ops may not import ONNX's own domain, which has Mul and Sin. */
function requireOnnxOps(imports: OperatorSetIdProto[]): void {
  if (imports.some((opset) => normaliseDomain(opset) === '')) return
  imports.push(create(OperatorSetIdProtoSchema, { domain: '', version: 13n }))
}

interface Nudge {
  readonly dtype: DType
  readonly relative: number
  readonly wave: number
}

/** x + relative·x·sin(wave·x), built from nodes that need no shape and work in graphs and functions. */
function nudge(quantiser: NodeProto, { dtype, relative, wave }: Nudge, freshName: () => string): NodeProto[] {
  requireExpressible(dtype, relative)
  const nodes: NodeProto[] = []
  const add = (opType: string, input: string[], attribute: AttributeProto[] = []): string => {
    const name = freshName()
    nodes.push(create(NodeProtoSchema, { opType, name, input, output: [name], attribute }))
    return name
  }
  // onnxruntime has no Sin of 16-bit floats.
  const isWide = dtype === 'float32' || dtype === 'float64'
  const computes = isWide ? dtype : 'float32'
  const constant = (value: number) => add('Constant', [], [tensorAttribute(computes, value)])
  const x = isWide ? quantiser.input[0]! : add('Cast', [quantiser.input[0]!], [castAttribute(computes)])
  const noise = add('Sin', [add('Mul', [x, constant(wave)])])
  const moved = add('Add', [x, add('Mul', [x, add('Mul', [noise, constant(relative)])])])
  quantiser.input[0] = isWide ? moved : add('Cast', [moved], [castAttribute(dtype)])
  return nodes
}

function requireExpressible(dtype: DType, relative: number): void {
  const stored = new Float64Array(1)
  decodeNumbers(dtype, encodeNumbers(dtype, [1 + relative]), 0, 1, stored)
  if (stored[0] !== 1 && Number.isFinite(stored[0])) return
  throw new UsageError('nudge', `1 + ${relative} is ${stored[0]} in ${dtype}; give a nudge that this dtype can express`)
}

function tensorAttribute(dtype: DType, value: number): AttributeProto {
  const t = tensorToProto('', { dtype, shape: [], bytes: encodeNumbers(dtype, [value]) })
  return create(AttributeProtoSchema, { name: 'value', type: AttributeProto_AttributeType.TENSOR, t })
}

function castAttribute(dtype: DType): AttributeProto {
  const i = BigInt(DTYPES[dtype].onnx)
  return create(AttributeProtoSchema, { name: 'to', type: AttributeProto_AttributeType.INT, i })
}

function nameMaker(used: ReadonlySet<string>): () => string {
  let next = 0
  return () => {
    let name = `assay_nudge_${next++}`
    while (used.has(name)) name = `assay_nudge_${next++}`
    return name
  }
}

function usedNames({ proto }: OnnxModel): Set<string> {
  const used = new Set<string>()
  for (const { nodes, graph } of walkScopes(proto)) {
    for (const node of nodes) for (const name of [node.name, ...node.input, ...node.output]) used.add(name)
    for (const { name } of [...(graph?.input ?? []), ...(graph?.initializer ?? [])]) used.add(name)
  }
  return used
}
