import { copyFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { digestOf } from '../../files/digest.ts'
import { openTrace } from '../../files/safetensors.ts'
import { type FlatModel, flatten, type NodeKey } from '../../onnx/flatten.ts'
import { type FlatIndex, indexFlat } from '../../onnx/layer-model.ts'
import { layerSites } from '../../onnx/layer-sites.ts'
import type { Lab } from '../../runs/contract.ts'
import { type Activations, recordActivations } from './activations.ts'
import { type PreparedInputs, prepareInputs } from './inputs.ts'
import type { LayerCase } from './layer.ts'
import { type LoadedModel, loadModel } from './load.ts'
import { remembered } from './remembered.ts'
import { infoOf } from './sides.ts'
import type { OnnxSuiteContext } from './suite.ts'

/** A model whose layers can be cut out. */
export interface Sliceable {
  readonly loaded: LoadedModel
  readonly flat: FlatModel
  readonly index: FlatIndex
}

/** Another model, whose layers are found by name. */
interface TestedModel extends Sliceable {
  readonly keys: ReadonlyMap<string, NodeKey>
}

/** What all layers of one model, on one set of inputs, are judged with. */
export interface LayerBench extends Sliceable, Pick<Activations, 'taken' | 'values'> {
  readonly inputs: PreparedInputs
}

/** So many models stay open: cases of one model are judged next to each other. */
const KEPT = 2

/** Opened once for all layers of a model. */
export class LayerBenches {
  readonly #open = new Map<string, Promise<LayerBench>>()
  readonly #tested = new Map<string, Promise<TestedModel | null>>()

  bench(c: LayerCase, lab: Lab, options: OnnxSuiteContext): Promise<LayerBench> {
    return remembered(this.#open, benchKey(c), () => openBench(c, lab, options), KEPT)
  }

  /** The model that the target runs instead, with the same branches in place; null where its branches are others. */
  tested(path: string, c: LayerCase, bench: LayerBench, lab: Lab, options: OnnxSuiteContext) {
    const place = resolve(options.cwd, path)
    const open = async () => sliceTested(await loadModel(place, 'target', lab), bench)
    return remembered(this.#tested, JSON.stringify([place, benchKey(c)]), open, KEPT)
  }
}

function benchKey({ path, dataSet, dims, referenceTarget }: LayerCase): string {
  return JSON.stringify([path, dataSet, dims, referenceTarget])
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

function sliceTested(loaded: LoadedModel, { taken }: LayerBench): TestedModel | null {
  const flat = flatten(loaded.model, taken)
  if (flat.undecided.size > 0) return null
  const keys = new Map(layerSites(loaded.model.graph).map(({ scope, key }) => [scope, key]))
  return { loaded, flat, index: indexFlat(flat), keys }
}
