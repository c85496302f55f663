import { SkipCase, StageError } from '../../../domain/errors.ts'
import { remember } from '../../../domain/remember.ts'
import type { Trace } from '../../../domain/tensor.ts'
import { countWeightBytes } from '../../../onnx/layers/layer-model.ts'
import type { Lab } from '../../../runs/contract.ts'
import { WorkerFailure } from '../../../runtimes/failure.ts'
import { refuseInputs, refuseOutputs } from '../../../runtimes/host/refuse.ts'
import type { RecordedLayer } from '../../tensors/inside/activations.ts'
import { splitIntoChunks } from '../../tensors/inside/chunks.ts'
import { type CutLayer, cutLayer, recordedOutputs } from '../../tensors/inside/cut-layer.ts'
import type { CapturedSide } from '../../tensors/sides.ts'
import type { OnnxSuiteContext } from '../suite.ts'
import type { LayerCase } from './layer.ts'
import type { LayerSetup } from './layer-setup.ts'
import { runTogether } from './run-together.ts'

/** Of what the layers of one session take and give. */
const SESSION_BYTES = 2 ** 26
const SESSION_LAYERS = 128

/** What a layer gave that ran beside others. */
export interface IslandSide {
  readonly cut: CutLayer
  readonly target: CapturedSide
  release(): Promise<void>
}

export interface Member {
  readonly c: LayerCase
  readonly cut: CutLayer
  /** What it gave within the whole model, under the names of its own model. */
  readonly given: Trace
}

interface Expected {
  readonly c: LayerCase
  readonly layer: RecordedLayer
}

/** Layers of one session. */
interface Batch {
  readonly layers: readonly Expected[]
  given: Promise<ReadonlyMap<string, IslandSide>> | null
}

/**
 * Layers that are judged one after another run side by side in one session, as islands of one graph: each on the reference's
 * values, nothing between them. Only a pass counts. Whatever else comes of it, the layer is judged alone.
 */
export class Islands {
  readonly #expected = new Map<string, LayerCase[]>()
  readonly #batches = new Map<string, ReadonlyMap<string, Batch>>()

  /** The layers that will be judged, in order. */
  expect(cases: readonly LayerCase[]): void {
    for (const c of cases) remember(this.#expected, groupKey(c), () => []).push(c)
  }

  /** Runs the layers around this one, unless they did already; null: it has to run alone. */
  async take(c: LayerCase, setup: LayerSetup, lab: Lab, options: OnnxSuiteContext): Promise<IslandSide | null> {
    if (!(await mayShare(c, setup, lab, options))) return null
    const key = groupKey(c)
    const batches = remember(this.#batches, key, () => planBatches(this.#expected.get(key) ?? [], setup))
    const batch = batches.get(c.id)
    if (!batch) return null
    batch.given ??= runBatch(batch.layers, setup, lab, options)
    try {
      return (await batch.given).get(c.id) ?? null
    } catch (error) {
      if (lab.signal.aborted) throw error
      return null
    }
  }
}

function groupKey({ path, dataSet, dims, referenceTarget, underTest }: LayerCase): string {
  return JSON.stringify([path, dataSet, dims, referenceTarget, underTest])
}

async function mayShare(c: LayerCase, setup: LayerSetup, lab: Lab, options: OnnxSuiteContext): Promise<boolean> {
  const { pool, layerInputs } = options
  const isPlain = c.otherReferences.length === 0 && c.underTest.options.model === undefined
  if (!isPlain || setup.doubt !== null || layerInputs !== 'reference' || lab.keepsAll || pool.isolatesCases)
    return false
  const info = await pool.probe(c.underTest)
  if (!info.available || info.capabilities.sharedMemory) return false
  return info.capabilities.islands === true && info.capabilities.cheap === true
}

/** Those that these inputs reach, by the id of their case. */
function planBatches(cases: readonly LayerCase[], setup: LayerSetup): ReadonlyMap<string, Batch> {
  const reached = cases.flatMap((c) => {
    const layer = c.site.loop ? undefined : setup.layers.get(c.site.scope)
    return layer && isReached(c, setup) ? [{ c, layer }] : []
  })
  const chunks = splitIntoChunks(reached, ({ c }) => [c.id], {
    sizeOf: sizes(reached),
    most: 1,
  })
  const batches = new Map<string, Batch>()
  for (const { items } of chunks) {
    const batch = { layers: items, given: null }
    for (const { c } of items) batches.set(c.id, batch)
  }
  return batches
}

function isReached({ site }: LayerCase, { taken }: LayerSetup): boolean {
  return site.branches.every(({ key, branch }) => taken.get(key) === branch)
}

/** The share of a session that a layer takes. */
function sizes(layers: readonly Expected[]): (id: string) => number {
  const byId = new Map(layers.map(({ c, layer }) => [c.id, layer]))
  return (id) => {
    const layer = byId.get(id)!
    const moved = bytesOf([...layer.inputs, ...layer.outputs], layer) + countWeightBytes(layer)
    return Math.max(moved / SESSION_BYTES, 1 / SESSION_LAYERS)
  }
}

function bytesOf(names: readonly string[], { values }: RecordedLayer): number {
  return names.reduce((sum, name) => sum + (values.get(name)?.byteLength ?? 0), 0)
}

async function runBatch(
  layers: readonly Expected[],
  setup: LayerSetup,
  lab: Lab,
  options: OnnxSuiteContext,
): Promise<ReadonlyMap<string, IslandSide>> {
  const members: Member[] = []
  for (const { c, layer } of layers) members.push(...(await memberOf(c, layer, setup, options)))
  return runMembers(members, lab, options)
}

/** None where it cannot be expressed: judged alone, it says why. */
async function memberOf(
  c: LayerCase,
  layer: RecordedLayer,
  setup: LayerSetup,
  { pool }: OnnxSuiteContext,
): Promise<Member[]> {
  const info = await pool.probe(c.underTest)
  try {
    const cut = await cutLayer(setup, layer, layer, true)
    if (!info.available) return []
    refuseInputs(c.underTest, info.capabilities, cut.inputs)
    refuseOutputs(c.underTest, info.capabilities, cut.model.outputs)
    return [{ c, cut, given: recordedOutputs(layer, cut, layer) }]
  } catch (error) {
    if (error instanceof SkipCase) return []
    throw error
  }
}

/** Where the session is refused, each half is tried; where a worker fails, nobody knows over which. */
async function runMembers(
  members: readonly Member[],
  lab: Lab,
  options: OnnxSuiteContext,
): Promise<ReadonlyMap<string, IslandSide>> {
  if (members.length === 0) return new Map()
  try {
    return await runTogether(members, lab, options)
  } catch (error) {
    if (!(error instanceof StageError || error instanceof SkipCase) || lab.signal.aborted) throw error
    if (members.length === 1 || error.cause instanceof WorkerFailure) return new Map()
    const middle = Math.ceil(members.length / 2)
    const first = await runMembers(members.slice(0, middle), lab, options)
    return new Map([...first, ...(await runMembers(members.slice(middle), lab, options))])
  }
}
