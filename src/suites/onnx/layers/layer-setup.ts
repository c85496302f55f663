import { copyFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { StageError } from '../../../domain/errors.ts'
import { forgetOldest, rememberSuccess } from '../../../domain/remember.ts'
import type { Target } from '../../../domain/target.ts'
import type { Trace } from '../../../domain/tensor.ts'
import { computeDigest } from '../../../files/disk/digest.ts'
import { openTrace } from '../../../files/formats/safetensors.ts'
import { flatten, type NodeKey } from '../../../onnx/flatten.ts'
import { type FlatIndex, indexFlat } from '../../../onnx/layers/layer-border.ts'
import type { LayerSource } from '../../../onnx/layers/layer-model.ts'
import { layerSites } from '../../../onnx/layers/layer-sites.ts'
import { inferDTypes } from '../../../onnx/taps.ts'
import type { Lab } from '../../../runs/contract.ts'
import { settledInputs } from '../../tensors/fitting/fit-inputs.ts'
import type { PreparedInputs } from '../../tensors/inputs.ts'
import { type Activations, recordActivations } from '../../tensors/inside/activations.ts'
import { type LoadedModel, loadModel } from '../../tensors/load.ts'
import { rulesFor } from '../../tensors/rules.ts'
import { type CapturedSide, captureSide, compareSides, requireRuntime, wholeModel } from '../../tensors/sides.ts'
import type { FullModelCase } from '../full-model.ts'
import type { OnnxSuiteContext } from '../suite.ts'

/** A model whose layers can be cut out. */
interface Sliceable extends LayerSource {
  readonly loaded: LoadedModel
}

/** Another model, whose layers are found by name. */
interface TestedModel extends Sliceable {
  readonly index: FlatIndex
  readonly keys: ReadonlyMap<string, readonly NodeKey[]>
}

/** Shared by all layers of one model on one set of inputs. */
export interface LayerSetup extends Sliceable, Pick<Activations, 'taken' | 'layers' | 'forget'> {
  readonly inputs: PreparedInputs
  /** Why the values that the reference computed inside are not trusted; null if they are. */
  readonly doubt: string | null
}

/** How many models stay open; cases of one model are judged in a row. */
const KEPT = 2

interface OpenSetup {
  readonly opened: Promise<LayerSetup>
  users: number
}

/** Opened once for all layers of a model. */
export class LayerSetups {
  readonly #open = new Map<string, OpenSetup>()
  /** No longer open, but perhaps in use. */
  readonly #forgotten = new Set<OpenSetup>()
  readonly #tested = new Map<string, Promise<TestedModel | null>>()

  /** What the reference computed stays until the run ends. */
  setup(c: FullModelCase, lab: Lab, options: OnnxSuiteContext): Promise<LayerSetup> {
    return this.#use(c, lab, options).opened
  }

  /** What the reference computed goes when nobody uses it and other models were opened since. */
  async withSetup<T>(
    c: FullModelCase,
    lab: Lab,
    options: OnnxSuiteContext,
    work: (setup: LayerSetup) => Promise<T>,
  ): Promise<T> {
    const open = this.#use(c, lab, options)
    try {
      return await work(await open.opened)
    } finally {
      open.users--
      for (const each of [...this.#forgotten]) if (each.users === 0) await this.#remove(each)
    }
  }

  #use(c: FullModelCase, lab: Lab, options: OnnxSuiteContext): OpenSetup {
    const key = setupKey(c)
    const open = this.#open.get(key) ?? this.#begin(key, openSetup(c, lab, options))
    open.users++
    return open
  }

  #begin(key: string, opened: Promise<LayerSetup>): OpenSetup {
    const open = { opened, users: 0 }
    this.#open.set(key, open)
    // Whoever asks next tries again.
    opened.catch(() => this.#open.get(key) === open && this.#open.delete(key))
    for (const [oldest, old] of this.#open) {
      if (this.#open.size <= KEPT) break
      this.#open.delete(oldest)
      this.#forgotten.add(old)
    }
    return open
  }

  async #remove(open: OpenSetup): Promise<void> {
    this.#forgotten.delete(open)
    const setup = await open.opened.catch(() => null)
    await setup?.forget()
  }

  /** The model that the target runs instead, with the same branches in place; null where its branches are others. */
  tested(path: string, c: FullModelCase, setup: LayerSetup, lab: Lab, options: OnnxSuiteContext) {
    const place = resolve(options.cwd, path)
    const open = async () => sliceTested(await loadModel(place, 'target', lab, options.digests), setup, options)
    return keptOpen(this.#tested, JSON.stringify([place, setupKey(c)]), open)
  }
}

function keptOpen<T>(known: Map<string, Promise<T>>, key: string, open: () => Promise<T>): Promise<T> {
  const opened = rememberSuccess(known, key, open)
  forgetOldest(known, KEPT)
  return opened
}

function setupKey({ path, dataSet, dims, referenceTarget }: FullModelCase): string {
  return JSON.stringify([path, dataSet, dims, referenceTarget])
}

async function openSetup(c: FullModelCase, lab: Lab, options: OnnxSuiteContext): Promise<LayerSetup> {
  const loaded = await loadModel(c.path, 'reference', lab, options.digests)
  const reference = c.referenceTarget!
  const run = ({ trace, digest }: PreparedInputs) => runUntouched(reference, loaded, trace, digest, lab, options)
  const fitting = { c, lab, options, model: loaded, trusted: loaded }
  const inputs = await lastingInputs(await settledInputs(fitting, run), lab)
  const info = await requireRuntime(options, 'reference', reference)
  const sites = layerSites(loaded.model.graph, options.layerGroups).filter(({ loop }) => loop === null)
  const request = { reference, info, model: loaded, inputs: inputs.trace, inputsDigest: inputs.digest, sites }
  const activations = await recordActivations(request, options.pool, lab)
  const doubt = await doubtAbout(c, loaded, inputs, activations, lab, options)
  const { flat, dtypes, taken, layers, forget } = activations
  return { loaded, original: loaded.model, inputs, flat, dtypes, taken, layers, forget, doubt }
}

/** Compares the outputs of the model as it is with those that it gave while it was looked at. */
async function doubtAbout(
  { id, referenceTarget }: FullModelCase,
  loaded: LoadedModel,
  { trace: inputs, digest: inputsDigest }: PreparedInputs,
  { outputs }: Activations,
  lab: Lab,
  options: OnnxSuiteContext,
): Promise<string | null> {
  const reference = referenceTarget!
  const untouched = await runUntouched(reference, loaded, inputs, inputsDigest, lab, options).catch(stageError)
  if (untouched instanceof StageError) return `the unmodified model does not run on the reference: ${untouched.message}`
  const { trace } = untouched
  const values = trace.values.filter(({ name }) => outputs.tensors.has(name))
  const tensors = new Map(values.map(({ name }) => [name, trace.tensors.get(name)!]))
  const { model } = loaded
  const rules = rulesFor({ id, model, tested: model, target: reference, scope: 'model', overrides: [] })
  const { verdict, reason } = await compareSides({ lab, inputs }, { values, tensors }, outputs, {
    rules,
    target: reference,
    generated: false,
  })
  return verdict === 'fail' ? `looking inside changes the reference's answer: ${reason}` : null
}

/** The whole model as it is. */
function runUntouched(
  reference: Target,
  loaded: LoadedModel,
  inputs: Trace,
  inputsDigest: string,
  lab: Lab,
  { pool, areDefaults }: OnnxSuiteContext,
): Promise<CapturedSide> {
  return captureSide({ lab, pool, areDefaults, inputs, inputsDigest }, 'reference', reference, wholeModel(loaded))
}

function stageError(error: unknown): StageError {
  if (error instanceof StageError) return error
  throw error
}

const INPUTS_FILE = 'inputs.safetensors'

/** Inputs that were made for one case go with it; these are needed by all layers. */
async function lastingInputs(inputs: PreparedInputs, lab: Lab): Promise<PreparedInputs> {
  const { path, digest } = inputs
  if (path === null) return inputs
  const key = computeDigest({ step: 'layer-inputs@1', digest })
  const { folder } = await lab.step(
    { title: 'keep the inputs', stage: 'inputs', key, from: { inputs: digest } },
    async (place) => {
      await copyFile(path, join(place, INPUTS_FILE))
      return {}
    },
  )
  const lasting = join(folder, INPUTS_FILE)
  return { ...inputs, path: lasting, trace: await openTrace(lasting) }
}

function sliceTested(
  loaded: LoadedModel,
  { taken }: LayerSetup,
  { layerGroups }: OnnxSuiteContext,
): TestedModel | null {
  const flat = flatten(loaded.model, taken)
  if (flat.undecided.size > 0) return null
  const keys = new Map(layerSites(loaded.model.graph, layerGroups).map((site) => [site.scope, site.keys]))
  return { loaded, original: loaded.model, flat, dtypes: inferDTypes(flat), index: indexFlat(flat), keys }
}
