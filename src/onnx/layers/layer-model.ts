import { clone, create } from '@bufbuild/protobuf'
import { DTYPES, type DType, dtypeFromOnnx } from '../../domain/dtype.ts'
import { SkipCase } from '../../domain/errors.ts'
import { elementCount, type TensorSpec } from '../../domain/tensor.ts'
import { castIn, castOut, chooseCarrier } from '../carriers.ts'
import type { FlatModel } from '../flatten.ts'
import { GraphProtoSchema, type ModelProto, NodeProtoSchema, type TensorProto } from '../generated/onnx-ml_pb.ts'
import type { OnnxModel } from '../model.ts'
import { renameIn } from '../names.ts'
import { isExternal } from '../tensors/external-data.ts'
import { readTensor } from '../tensors/read-tensor.ts'
import { tensorToProto } from '../tensors/tensor-proto.ts'
import { valueInfo } from '../value-info.ts'
import type { Layer } from './layer-border.ts'

/** A flat model that layers are cut out of. */
export interface LayerSource {
  readonly original: OnnxModel
  readonly flat: FlatModel
  readonly dtypes: ReadonlyMap<string, DType>
}

/**
 * A layer as a model of its own: its weights inside, its inputs as they came, all under their own names. Outputs are declared
 * as far as they were recorded too, since compilers want to know them.
 */
export async function layerModel(
  { original, flat, dtypes }: LayerSource,
  layer: Layer,
  given: ReadonlyMap<string, TensorSpec>,
): Promise<ModelProto> {
  refuseTooLarge(layer)
  const initializer: TensorProto[] = []
  for (const weight of layer.weights) initializer.push(await inside(original, weight))
  const taken = layer.inputs.map((name) => [name, chooseCarrier(name, dtypes.get(name))] as const)
  const made = layer.outputs.map((name) => [name, chooseCarrier(name, dtypes.get(name))] as const)
  const graph = create(GraphProtoSchema, {
    name: 'layer',
    node: [
      ...taken.flatMap(([name, carrier]) => castIn(name, carrier)),
      ...layer.constants,
      ...layer.nodes,
      ...made.flatMap(([name, carrier]) => castOut(name, carrier)),
    ],
    input: taken.map(([name, carrier]) => valueInfo(carrier.name, inputSpec(name, given))),
    output: made.map(([name, carrier]) => valueInfo(carrier.name, given.get(name))),
    initializer,
  })
  return { ...flat.proto, graph }
}

/** Protobuf's limit, minus room for the rest of a layer. */
const MOST_WEIGHT_BYTES = 2 ** 31 - 2 ** 20

/** Bytes of the weights that a layer carries. */
export function countWeightBytes({ weights }: Layer): number {
  return weights.reduce((sum, { dims, dataType }) => {
    const dtype = dtypeFromOnnx(dataType)
    return sum + (dtype ? elementCount(dims.map(Number)) * (DTYPES[dtype].bits / 8) : 0)
  }, 0)
}

function refuseTooLarge(layer: Layer): void {
  const bytes = countWeightBytes(layer)
  if (bytes > MOST_WEIGHT_BYTES) throw new SkipCase(`its weights of ${bytes} bytes do not fit into one ONNX file`)
}

/** A single layer carries its own weights, wherever they were. */
async function inside(original: OnnxModel, weight: TensorProto): Promise<TensorProto> {
  return isExternal(weight) ? tensorToProto(weight.name, await readTensor(original, weight)) : weight
}

function inputSpec(name: string, given: ReadonlyMap<string, TensorSpec>): TensorSpec {
  const spec = given.get(name)
  if (spec) return spec
  throw new SkipCase(`its input "${name}" was not recorded`)
}

/** The same layer without its names: layers that compute the same have the same bytes. Inputs and outputs keep their order. */
export function namelessModel(proto: ModelProto): ModelProto {
  return { ...proto, graph: create(GraphProtoSchema, { name: 'layer', ...namelessParts(proto, '') }) }
}

/** Several layers of one model as islands of one graph, which share nothing; the values of each have a prefix of their own. */
export function joinLayers(layers: readonly ModelProto[]): ModelProto {
  const parts = layers.map((layer, i) => namelessParts(layer, `${i}/`))
  const graph = create(GraphProtoSchema, {
    name: 'layers',
    node: parts.flatMap(({ node }) => node),
    input: parts.flatMap(({ input }) => input),
    output: parts.flatMap(({ output }) => output),
    initializer: parts.flatMap(({ initializer }) => initializer),
  })
  return { ...layers[0]!, graph }
}

function namelessParts({ graph }: ModelProto, prefix: string) {
  const { node, input, initializer, output } = graph!
  const names = new Map<string, string>()
  const rename = (kind: string, given: readonly string[]) =>
    given.filter((name) => name && !names.has(name)).forEach((name, i) => void names.set(name, `${prefix}${kind}${i}`))
  rename(
    'input',
    input.map(({ name }) => name),
  )
  rename(
    'weight',
    initializer.map(({ name }) => name),
  )
  rename(
    'output',
    output.map(({ name }) => name),
  )
  rename(
    'value',
    node.flatMap((each) => each.output),
  )
  const nodes = node.map((each) => {
    const copy = clone(NodeProtoSchema, each)
    renameIn(copy, names)
    return Object.assign(copy, { name: '', docString: '' })
  })
  const renamed = <T extends { readonly name: string }>(item: T): T => ({ ...item, name: names.get(item.name)! })
  return {
    node: nodes,
    input: input.map(renamed),
    output: output.map(renamed),
    initializer: initializer.map(renamed),
  }
}
