import type {
  AttributeProto,
  GraphProto,
  ModelProto,
  NodeProto,
  SparseTensorProto,
  TensorProto,
} from './generated/onnx-ml_pb.ts'

/** A list of nodes with names of its own: the main graph, a sub-graph, a function or a training graph. */
export interface NodeList {
  readonly where: string
  readonly nodes: NodeProto[]
  /** null for a function. */
  readonly graph: GraphProto | null
  readonly parent: NodeList | null
}

/** Every scope of a model, outer before inner. */
export function* walkScopes(proto: ModelProto): Generator<NodeList> {
  for (const scope of rootScopes(proto)) yield* scopesWithin(scope)
  for (const fn of proto.functions) {
    for (const attribute of fn.attributeProto) yield* scopesOfAttribute(attribute, `function ${fn.name}`, null)
  }
}

function* rootScopes(proto: ModelProto): Generator<NodeList> {
  if (proto.graph) yield { where: 'graph', nodes: proto.graph.node, graph: proto.graph, parent: null }
  for (const fn of proto.functions) yield { where: `function ${fn.name}`, nodes: fn.node, graph: null, parent: null }
  for (const { initialization, algorithm } of proto.trainingInfo) {
    for (const graph of [initialization, algorithm]) {
      if (graph) yield { where: 'training graph', nodes: graph.node, graph, parent: null }
    }
  }
}

function* scopesWithin(scope: NodeList): Generator<NodeList> {
  yield scope
  for (const node of scope.nodes) {
    for (const attribute of node.attribute)
      yield* scopesOfAttribute(attribute, `${attribute.name} of ${nodeLabel(node)}`, scope)
  }
}

function* scopesOfAttribute(attribute: AttributeProto, where: string, parent: NodeList | null): Generator<NodeList> {
  for (const graph of listGraphs(attribute)) yield* scopesWithin({ where, nodes: graph.node, graph, parent })
}

export function listGraphs(attribute: AttributeProto): GraphProto[] {
  return attribute.g ? [attribute.g, ...attribute.graphs] : attribute.graphs
}

export function nodeLabel(node: NodeProto): string {
  return `${node.opType} "${node.name || (node.output[0] ?? '')}"`
}

export interface FoundTensor {
  readonly tensor: TensorProto
  readonly where: string
}

/** Every TensorProto of a model, at any depth. */
export function* walkTensorProtos(proto: ModelProto): Generator<FoundTensor> {
  for (const { graph, nodes, where } of walkScopes(proto)) {
    for (const tensor of graph?.initializer ?? []) yield { tensor, where: `initializer "${tensor.name}" in ${where}` }
    for (const sparse of graph?.sparseInitializer ?? []) yield* sparseParts(sparse, `sparse initializer in ${where}`)
    for (const node of nodes) yield* attributeTensors(node.attribute, `${nodeLabel(node)} in ${where}`)
  }
  for (const fn of proto.functions) yield* attributeTensors(fn.attributeProto, `function ${fn.name}`)
}

function* attributeTensors(attributes: readonly AttributeProto[], where: string): Generator<FoundTensor> {
  for (const attribute of attributes) {
    const label = `attribute ${attribute.name} of ${where}`
    for (const tensor of attribute.t ? [attribute.t, ...attribute.tensors] : attribute.tensors) {
      yield { tensor, where: label }
    }
    const { sparseTensor, sparseTensors } = attribute
    for (const sparse of sparseTensor ? [sparseTensor, ...sparseTensors] : sparseTensors)
      yield* sparseParts(sparse, label)
  }
}

function* sparseParts({ values, indices }: SparseTensorProto, where: string): Generator<FoundTensor> {
  if (values) yield { tensor: values, where: `values "${values.name}" of ${where}` }
  if (indices) yield { tensor: indices, where: `indices "${indices.name}" of ${where}` }
}

export function findAttribute(node: NodeProto, name: string): AttributeProto | undefined {
  return node.attribute.find((attribute) => attribute.name === name)
}

/** An integer attribute; attributes that refer to a function's own are unknown here. */
export function intAttribute(node: NodeProto, name: string): number | undefined {
  const found = findAttribute(node, name)
  return found && !found.refAttrName ? Number(found.i) : undefined
}

/** ONNX's own domain has two spellings. */
export function normaliseDomain({ domain }: { readonly domain: string }): string {
  return domain === 'ai.onnx' ? '' : domain
}
