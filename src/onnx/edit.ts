import { create, fromBinary } from '@bufbuild/protobuf'
import type { DType } from '../domain/dtype.ts'
import { UsageError } from '../domain/errors.ts'
import { decodeNumbers } from '../tensors/decode.ts'
import { encodeNumbers } from '../tensors/encode.ts'
import {
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
import { tensorToProto } from './tensor-proto.ts'
import { typedNodes } from './value-types.ts'
import { domainOf, scopesOf } from './walk.ts'

/**
 * A copy of a model in which the float input of every dynamic quantiser is multiplied by 1 + relative. Weights outside the
 * file are still looked for in the model's folder.
 */
export function nudgeQuantisers(model: OnnxModel, relative: number): Uint8Array {
  // Parsing again costs a millisecond and leaves the original alone; weights are views into the same bytes.
  const proto = fromBinary(ModelProtoSchema, model.bytes)
  const dtypes = new Map<NodeProto, DType>()
  for (const typed of typedNodes(proto)) {
    if (isDynamicQuantiser(typed)) dtypes.set(typed.node, typed.inputs[0]?.dtype ?? 'float32')
  }
  const freshName = nameMaker(usedNames(model))
  for (const { nodes } of scopesOf(proto)) {
    for (const node of nodes.filter((candidate) => dtypes.has(candidate))) {
      nodes.splice(nodes.indexOf(node), 0, ...nudge(node, factorTensor(dtypes.get(node)!, relative), freshName))
    }
  }
  for (const { opsetImport } of [proto, ...proto.functions]) requireOnnxOps(opsetImport)
  return writeModel(proto)
}

/** A graph of foreign ops only need not import ONNX's own, where Mul and Constant are. */
function requireOnnxOps(imports: OperatorSetIdProto[]): void {
  if (imports.some((opset) => domainOf(opset) === '')) return
  imports.push(create(OperatorSetIdProtoSchema, { domain: '', version: 13n }))
}

type FactorTensor = ReturnType<typeof factorTensor>

function factorTensor(dtype: DType, relative: number) {
  const bytes = encodeNumbers(dtype, [1 + relative])
  const stored = new Float64Array(1)
  decodeNumbers(dtype, bytes, 0, 1, stored)
  if (stored[0] === 1 || !Number.isFinite(stored[0])) {
    throw new UsageError(
      'nudge',
      `1 + ${relative} is ${stored[0]} in ${dtype}; give a nudge that this dtype can express`,
    )
  }
  return { dtype, shape: [], bytes }
}

/** A Constant and a Mul, which work in graphs and functions alike. */
function nudge(node: NodeProto, tensor: FactorTensor, freshName: () => string): NodeProto[] {
  const [factor, product] = [freshName(), freshName()]
  const value = create(AttributeProtoSchema, {
    name: 'value',
    type: AttributeProto_AttributeType.TENSOR,
    t: tensorToProto('', tensor),
  })
  const constant = create(NodeProtoSchema, { opType: 'Constant', name: factor, output: [factor], attribute: [value] })
  const input = [node.input[0]!, factor]
  const multiply = create(NodeProtoSchema, { opType: 'Mul', name: product, input, output: [product] })
  node.input[0] = product
  return [constant, multiply]
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
  for (const { nodes, graph } of scopesOf(proto)) {
    for (const node of nodes) for (const name of [node.name, ...node.input, ...node.output]) used.add(name)
    for (const { name } of [...(graph?.input ?? []), ...(graph?.initializer ?? [])]) used.add(name)
  }
  return used
}
