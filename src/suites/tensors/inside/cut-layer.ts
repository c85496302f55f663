import { SkipCase } from '../../../domain/errors.ts'
import type { Target } from '../../../domain/target.ts'
import type { TensorSource, Trace } from '../../../domain/tensor.ts'
import type { Side } from '../../../domain/verdict.ts'
import { computeDigest } from '../../../files/disk/digest.ts'
import { carriedAs } from '../../../onnx/carriers.ts'
import type { Layer } from '../../../onnx/layers/layer-border.ts'
import { type LayerSource, layerModel, namelessModel } from '../../../onnx/layers/layer-model.ts'
import { type ModelFacts, modelFacts, writeModel } from '../../../onnx/model.ts'
import { type CapturedSide, type CaptureSetup, captureSide, type SideModel } from '../sides.ts'
import { renamedTrace } from './renamed-trace.ts'

/** A layer as a model of its own, with its inputs. */
export interface CutLayer {
  /** Under its own names. */
  readonly model: ModelFacts
  readonly inputs: Trace
  readonly inputsDigest: string
  /** The model that runs, without names, so that layers that compute the same share a session; written when first asked for. */
  readonly nameless: NamelessLayer
}

interface NamelessLayer extends SideModel {
  /** Nameless → own, of its inputs and outputs. */
  readonly ownNames: ReadonlyMap<string, string>
}

/** Larger ones hold weights, which no other layer has, and would only fill the worker's memory. */
const SHARED_BYTES = 2 ** 16

/** What the reference computed, and what stands for its content. */
export interface Recorded {
  readonly values: ReadonlyMap<string, TensorSource>
  readonly digest: string
}

/** `givesRecorded`: it will give outputs of the recorded shapes, so that it may declare them. */
export async function cutLayer(
  source: LayerSource,
  layer: Layer,
  { values, digest }: Recorded,
  givesRecorded: boolean,
): Promise<CutLayer> {
  const given = layer.inputs.map((name) => [name, recorded(name, values)] as const)
  const made = givesRecorded ? madeBy(source, layer, values) : []
  const proto = await layerModel(source, layer, new Map([...made, ...given]))
  const model = modelFacts(proto, proto.graph!)
  let nameless: NamelessLayer | undefined
  return {
    model,
    inputs: layerTrace(layer.inputs, namesOf(model.inputs), values),
    inputsDigest: computeDigest({ values: digest, names: layer.inputs }),
    get nameless() {
      nameless ??= writeNameless(model, source.original.folder)
      return nameless
    },
  }
}

function writeNameless(model: ModelFacts, folder: string): NamelessLayer {
  const bare = namelessModel(model.proto)
  const facts = modelFacts(bare, bare.graph!)
  const bytes = writeModel(bare)
  return {
    ref: { format: 'onnx', bytes, folder },
    digest: computeDigest(bytes),
    outputs: facts.outputs,
    shared: bytes.length <= SHARED_BYTES,
    ownNames: new Map([...pairs(facts.inputs, model.inputs), ...pairs(facts.outputs, model.outputs)]),
  }
}

/** Outputs that travel as the dtype that was recorded. */
function madeBy({ dtypes }: LayerSource, { outputs }: Layer, values: Recorded['values']): [string, TensorSource][] {
  return outputs.flatMap((name) => {
    const source = values.get(name)
    return source && source.dtype === carriedAs(dtypes.get(name)) ? [[name, source]] : []
  })
}

/** What the layer gave within the whole model, under the names of its own model. */
export function recordedOutputs({ outputs }: Layer, { model }: CutLayer, { values }: Recorded): Trace {
  return layerTrace(outputs, namesOf(model.outputs), values)
}

/** Runs a layer alone; its outputs have the layer's own names. */
export async function runLayer(
  place: Place,
  side: Side,
  target: Target,
  cut: CutLayer,
  alone = false,
): Promise<CapturedSide> {
  const { ownNames } = cut.nameless
  const namelessOf = new Map(Array.from(ownNames, ([nameless, own]) => [own, nameless]))
  const setup = { ...place, inputs: renamedTrace(cut.inputs, namelessOf), inputsDigest: cut.inputsDigest }
  const given = await captureSide(setup, side, target, cut.nameless, alone)
  return { ...given, trace: renamedTrace(given.trace, ownNames) }
}

type Place = Pick<CaptureSetup, 'lab' | 'pool' | 'areDefaults'>

function layerTrace(
  values: readonly string[],
  names: readonly string[],
  sources: ReadonlyMap<string, TensorSource>,
): Trace {
  const tensors = new Map(values.map((value) => [value, recorded(value, sources)]))
  const trace: Trace = { values: values.map((name) => ({ name, kind: 'tensor', length: 1 })), tensors }
  return renamedTrace(trace, new Map(values.map((value, i) => [value, names[i]!])))
}

function recorded(name: string, values: ReadonlyMap<string, TensorSource>): TensorSource {
  const source = values.get(name)
  if (source) return source
  throw new SkipCase(`"${name}" at its border is not a tensor, and workers return only tensors`)
}

type Named = { readonly name: string }

const namesOf = (items: readonly Named[]) => items.map(({ name }) => name)

function pairs(from: readonly Named[], to: readonly Named[]): [string, string][] {
  return from.map(({ name }, i) => [name, to[i]!.name])
}
