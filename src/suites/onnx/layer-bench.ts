import { copyFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { digestOf } from '../../files/digest.ts'
import { openTrace } from '../../files/safetensors.ts'
import { type FlatModel, flatten } from '../../onnx/flatten.ts'
import { type FlatIndex, indexFlat } from '../../onnx/layer-model.ts'
import { layerSites } from '../../onnx/layer-sites.ts'
import type { Lab } from '../../runs/contract.ts'
import { type Activations, recordActivations } from './activations.ts'
import { type PreparedInputs, prepareInputs } from './inputs.ts'
import type { LayerCase } from './layer.ts'
import { type LoadedModel, loadModel } from './load.ts'
import { infoOf } from './sides.ts'
import type { OnnxSuiteContext } from './suite.ts'

/** A model whose layers can be cut out. */
export interface Sliceable {
  readonly loaded: LoadedModel
  readonly flat: FlatModel
  readonly index: FlatIndex
}

/** What all layers of one model, on one set of inputs, are judged with. */
export interface LayerBench extends Sliceable, Pick<Activations, 'taken' | 'values'> {
  readonly inputs: PreparedInputs
}

/** So many models stay open: cases of one model are judged next to each other. */
const KEPT = 2

/** Opened once for all layers of a model; one that failed is opened again by whoever asks next. */
export class LayerBenches {
  readonly #open = new Map<string, Promise<LayerBench>>()
  readonly #tested = new Map<string, Promise<LoadedModel>>()

  bench(c: LayerCase, lab: Lab, options: OnnxSuiteContext): Promise<LayerBench> {
    const key = JSON.stringify([c.path, c.dataSet, c.dims, c.referenceTarget])
    return remembered(this.#open, key, () => openBench(c, lab, options))
  }

  /** The model that the target runs instead. */
  tested(path: string, lab: Lab, options: OnnxSuiteContext): Promise<LoadedModel> {
    const place = resolve(options.cwd, path)
    return remembered(this.#tested, place, () => loadModel(place, 'target', lab))
  }
}

function remembered<T>(known: Map<string, Promise<T>>, key: string, open: () => Promise<T>): Promise<T> {
  const found = known.get(key)
  if (found) return found
  const opening = open()
  known.set(key, opening)
  opening.catch(() => known.delete(key))
  for (const oldest of known.keys()) if (known.size > KEPT) known.delete(oldest)
  return opening
}

async function openBench(c: LayerCase, lab: Lab, options: OnnxSuiteContext): Promise<LayerBench> {
  const loaded = await loadModel(c.path, 'reference', lab)
  const inputs = await lastingInputs(await prepareInputs(c, loaded, lab, options), lab)
  const reference = c.referenceTarget!
  const info = await infoOf(options, 'reference', reference)
  const request = { reference, info, model: loaded, inputs: inputs.trace, inputsDigest: inputs.digest }
  const { flat, taken, values } = await recordActivations(request, options.pool, lab)
  return { loaded, inputs, flat, taken, values, index: indexFlat(flat) }
}

const INPUTS_FILE = 'inputs.safetensors'

/** Inputs that were made for one case go with it; these are needed by all layers. */
async function lastingInputs(inputs: PreparedInputs, lab: Lab): Promise<PreparedInputs> {
  const { path, digest } = inputs
  if (path === null) return inputs
  const key = digestOf({ step: 'layer-inputs@1', digest })
  const { folder } = await lab.step({ title: 'keep the inputs', stage: 'inputs', key }, async (place) => {
    await copyFile(path, join(place, INPUTS_FILE))
    return {}
  })
  const lasting = join(folder, INPUTS_FILE)
  return { ...inputs, path: lasting, trace: await openTrace(lasting) }
}

/** The tested model with the same branches in place; null where its branches are others. */
export function sliceTested(tested: LoadedModel, bench: LayerBench): Sliceable | null {
  const flat = flatten(tested.model, bench.taken)
  return flat.undecided.size > 0 ? null : { loaded: tested, flat, index: indexFlat(flat) }
}

/** Where a model has the layer of this name. */
export function layerKey({ loaded }: Sliceable, scope: string): string | null {
  return layerSites(loaded.model.graph).find((site) => site.scope === scope)?.key ?? null
}
