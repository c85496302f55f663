import { create } from '@bufbuild/protobuf'
import { DTYPES } from '../domain/dtype.ts'
import { SkipCase } from '../domain/errors.ts'
import type { TensorSpec } from '../domain/tensor.ts'
import { isExternal } from './external-data.ts'
import type { FlatModel } from './flatten.ts'
import {
  GraphProtoSchema,
  type NodeProto,
  type TensorProto,
  TensorShapeProtoSchema,
  TypeProtoSchema,
  type ValueInfoProto,
  ValueInfoProtoSchema,
} from './generated/onnx-ml_pb.ts'
import { type OnnxModel, writeModel } from './model.ts'
import { namesNeededBy } from './names.ts'
import { readTensor } from './read-tensor.ts'
import { tensorToProto } from './tensor-proto.ts'

/** Who makes and who uses a value of a flat graph. */
export interface FlatIndex {
  readonly weights: ReadonlyMap<string, TensorProto>
  readonly constants: ReadonlyMap<string, NodeProto>
  /** Values that something other than their own maker needs: nodes, or the model's outputs. */
  readonly users: ReadonlyMap<string, ReadonlySet<NodeProto>>
  readonly outputs: ReadonlySet<string>
}

export function indexFlat({ graph, nodes }: FlatModel): FlatIndex {
  const users = new Map<string, Set<NodeProto>>()
  const constants = new Map<string, NodeProto>()
  for (const node of nodes.values()) {
    if (node.opType === 'Constant') constants.set(node.output[0]!, node)
    for (const name of namesNeededBy(node)) users.set(name, (users.get(name) ?? new Set()).add(node))
  }
  return {
    weights: new Map(graph.initializer.map((tensor) => [tensor.name, tensor])),
    constants,
    users,
    outputs: new Set(graph.output.map(({ name }) => name)),
  }
}

/** What a layer of one or several nodes takes and gives. */
export interface LayerBorder {
  /** Values that other nodes or the user make. */
  readonly inputs: readonly string[]
  readonly weights: readonly TensorProto[]
  readonly constants: readonly NodeProto[]
  readonly outputs: readonly string[]
}

export function layerBorder(layer: readonly NodeProto[], index: FlatIndex): LayerBorder {
  const made = new Set(layer.flatMap(({ output }) => output.filter(Boolean)))
  const needed = [...new Set(layer.flatMap((node) => [...namesNeededBy(node)]))].filter((name) => !made.has(name))
  const isUsedOutside = (name: string) =>
    index.outputs.has(name) || [...(index.users.get(name) ?? [])].some((user) => !layer.includes(user))
  const used = [...made].filter(isUsedOutside)
  return {
    inputs: needed.filter((name) => !index.weights.has(name) && !index.constants.has(name)),
    weights: needed.flatMap((name) => index.weights.get(name) ?? []),
    constants: needed.flatMap((name) => index.constants.get(name) ?? []),
    outputs: used.length > 0 ? used : [...made],
  }
}

/** A layer as a model of its own: its weights inside, its inputs as they came. */
export async function layerModel(
  original: OnnxModel,
  flat: FlatModel,
  layer: readonly NodeProto[],
  border: LayerBorder,
  given: ReadonlyMap<string, TensorSpec>,
): Promise<Uint8Array> {
  const initializer: TensorProto[] = []
  for (const weight of border.weights) initializer.push(await inside(original, weight))
  const graph = create(GraphProtoSchema, {
    name: 'layer',
    node: [...border.constants, ...layer],
    input: border.inputs.map((name) => inputInfo(name, given.get(name))),
    output: border.outputs.map((name) => create(ValueInfoProtoSchema, { name })),
    initializer,
  })
  return writeModel({ ...flat.proto, graph })
}

/** A single layer carries its own weights, wherever they were. */
async function inside(original: OnnxModel, weight: TensorProto): Promise<TensorProto> {
  return isExternal(weight) ? tensorToProto(weight.name, await readTensor(original, weight)) : weight
}

function inputInfo(name: string, spec: TensorSpec | undefined): ValueInfoProto {
  if (!spec) throw new SkipCase(`its input "${name}" was not recorded`)
  const dim = spec.shape.map((size) => ({ value: { case: 'dimValue' as const, value: BigInt(size) } }))
  const shape = create(TensorShapeProtoSchema, { dim })
  const type = create(TypeProtoSchema, {
    value: { case: 'tensorType', value: { elemType: DTYPES[spec.dtype].onnx, shape } },
  })
  return create(ValueInfoProtoSchema, { name, type })
}
