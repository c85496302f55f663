import type { DType } from '../../../domain/dtype.ts'
import type { TensorSource, TensorSpec, Trace } from '../../../domain/tensor.ts'
import { carriedAs } from '../../../onnx/carriers.ts'
import type { Branch, FlatModel, NodeKey } from '../../../onnx/flatten.ts'
import { type FlatIndex, findLayer, indexFlat, type Layer } from '../../../onnx/layers/layer-border.ts'
import type { LayerSite } from '../../../onnx/layers/layer-sites.ts'
import { inferDTypes, type TappedModel, tapModel } from '../../../onnx/taps.ts'
import type { Lab, RunFolder } from '../../../runs/contract.ts'
import type { Pool } from '../../../runtimes/host/pool.ts'
import { type Captured, captureInto } from '../capture.ts'
import { decideBranches } from './branches.ts'
import { type Chunk, splitIntoChunks } from './chunks.ts'
import type { Recorded } from './cut-layer.ts'
import { type Edited, editedRequest, type LookRequest, type RunEdited, runEdited } from './edited-run.ts'
import { measureSizes, tensorsMadeIn, type ValueSize } from './value-sizes.ts'

/** A layer with what the reference computed around it, all of it in one run. */
export interface RecordedLayer extends Layer, Recorded {}

/** What the reference computed inside a model. */
export interface Activations {
  readonly flat: FlatModel
  readonly index: FlatIndex
  readonly dtypes: ReadonlyMap<string, DType>
  readonly taken: ReadonlyMap<NodeKey, Branch>
  /** By scope, without layers in loops and in branches that were not taken. */
  readonly layers: ReadonlyMap<string, RecordedLayer>
  /** The model's outputs in the run that recorded inner values. */
  readonly outputs: Trace
  /** Removes what was not stored. */
  forget(): Promise<void>
}

export interface ActivationRequest extends LookRequest {
  readonly sites: readonly Pick<LayerSite, 'scope' | 'keys'>[]
}

/** Limit for one run, because a worker holds all its outputs at once. */
const CHUNK_BYTES = 256 * 2 ** 20
/** Where sizes could not be measured. */
const CHUNK_VALUES = 32

/** Runs a model on the reference, as often as it takes to see all that happens inside. */
export async function recordActivations(request: ActivationRequest, pool: Pool, lab: Lab): Promise<Activations> {
  const run = (what: string, bytes: Uint8Array, names: readonly string[]) =>
    runEdited(request, { what, bytes, names }, pool, lab)
  const { flat, taken } = await decideBranches(request.model.model, request.inputs, run)
  const known = { flat, index: indexFlat(flat), dtypes: inferDTypes(flat) }
  const layers = new Map<string, RecordedLayer>()
  const outputs = new Map<string, TensorSource>()
  const chunks: RecordedChunk[] = []
  for await (const chunk of recordChunks(request, known, pool, lab)) {
    chunks.push(chunk)
    for (const [scope, layer] of chunk.layers) layers.set(scope, layer)
    for (const name of known.index.outputs) if (chunk.made.has(name)) outputs.set(name, chunk.values.get(name)!)
  }
  const forget = async () => void (await Promise.all(chunks.map((chunk) => chunk.forget())))
  return { ...known, taken, layers, outputs: traceOf(outputs), forget }
}

/** Layers whose values one run of the reference gave. */
interface RecordedChunk {
  readonly layers: ReadonlyMap<string, RecordedLayer>
  readonly values: Recorded['values']
  /** Those that the run gave. */
  readonly made: ReadonlySet<string>
  /** Removes what was not stored. */
  forget(): Promise<void>
}

/** As many layers at a time as fit into one run, for those who need no more at once. */
export async function* recordChunks(
  request: ActivationRequest,
  known: Pick<Activations, 'flat' | 'index' | 'dtypes'>,
  pool: Pool,
  lab: Lab,
): AsyncGenerator<RecordedChunk> {
  const { flat, index, dtypes } = known
  const run: RunEdited = (what, bytes, names) => runEdited(request, { what, bytes, names }, pool, lab)
  const chunks = await planChunks(request, flat, layersIn(flat, index, request.sites), dtypes, run)
  for (const [i, { items, values, sizes }] of chunks.entries()) {
    const folders: RunFolder[] = []
    const recorded = await recordValues(request, flat, values, ({ bytes, outputs }) => {
      const edited = { what: `values ${i + 1}`, bytes, names: Array.from(outputs.values(), ({ name }) => name) }
      return runSized(request, edited, sizes && sizedOutputs(outputs, sizes), folders, pool, lab)
    })
    const layers = new Map(items.map(([scope, layer]) => [scope, { ...layer, ...recorded }]))
    const forget = async () => void (await Promise.all(folders.map((folder) => folder.remove())))
    yield { layers, values: recorded.values, made: values, forget }
  }
}

function traceOf(tensors: ReadonlyMap<string, TensorSource>): Trace {
  return { values: Array.from(tensors.keys(), (name) => ({ name, kind: 'tensor', length: 1 })), tensors }
}

type NamedLayer = readonly [scope: string, layer: Layer]

/** Layers whose nodes are all in the flat graph. */
function layersIn(flat: FlatModel, index: FlatIndex, sites: ActivationRequest['sites']): NamedLayer[] {
  return sites.flatMap(({ scope, keys }) => {
    const nodes = keys.flatMap((key) => flat.nodes.get(key) ?? [])
    return nodes.length === keys.length ? [[scope, findLayer(nodes, index)] as const] : []
  })
}

async function recordValues(
  { model, inputs }: ActivationRequest,
  flat: FlatModel,
  wanted: ReadonlySet<string>,
  run: (tapped: TappedModel) => Promise<Captured>,
): Promise<Recorded> {
  const tapped = tapModel(model.model, flat, [...wanted])
  const { trace, key } = await run(tapped)
  const values = new Map(inputs.tensors)
  for (const [value, { name }] of tapped.outputs) {
    const source = trace.tensors.get(name)
    if (source) values.set(value, { ...source, name: value })
  }
  return { values, digest: key! }
}

/** What a run will give. */
interface SizedOutputs {
  readonly byteLength: number
  /** Of outputs whose dtype is known too. */
  readonly shapes: readonly TensorSpec[]
}

export function sizedOutputs(outputs: TappedModel['outputs'], sizes: ReadonlyMap<string, ValueSize>): SizedOutputs {
  const sized = [...outputs].map(([value, { name }]) => ({ name, ...sizes.get(value)! }))
  const shapes = sized.flatMap(({ name, dtype, shape }) => {
    const carried = carriedAs(dtype)
    return carried ? [{ name, dtype: carried, shape }] : []
  })
  return { byteLength: sized.reduce((sum, { byteLength }) => sum + byteLength, 0), shapes }
}

/** Without sizes where they could not be measured. */
type ValueChunk = Omit<Chunk<NamedLayer>, 'size'> & { readonly sizes?: ReadonlyMap<string, ValueSize> }

/** Layers whose values fit into one run. */
async function planChunks(
  { model }: ActivationRequest,
  flat: FlatModel,
  layers: readonly NamedLayer[],
  dtypes: ReadonlyMap<string, DType>,
  run: RunEdited,
): Promise<ValueChunk[]> {
  const made = tensorsMadeIn(flat)
  const valuesOf = ([, { inputs, outputs }]: NamedLayer) => [...inputs, ...outputs].filter((name) => made.has(name))
  const sizes = await measureSizes(model.model, flat, [...new Set(layers.flatMap(valuesOf))], dtypes, run)
  if (sizes) {
    const limit = { sizeOf: (value: string) => sizes.get(value)!.byteLength, most: CHUNK_BYTES }
    return splitIntoChunks(layers, valuesOf, limit).map((chunk) => ({ ...chunk, sizes }))
  }
  const chunks = splitIntoChunks(layers, valuesOf, { sizeOf: () => 1, most: CHUNK_VALUES })
  return chunks.map(({ items, values }) => ({ items, values }))
}

/** In memory, of all values inside models: of what a run may have there, this leaves room for what one session gives. */
const MEMORY_BYTES = 11 * 2 ** 26

/** So few bytes are read back sooner than a worker starts. */
export const STORED_BYTES = 2 ** 23

/** Many values of a known size are not stored where computing them again is as cheap. */
async function runSized(
  request: ActivationRequest,
  edited: Edited,
  sized: SizedOutputs | undefined,
  folders: RunFolder[],
  pool: Pool,
  lab: Lab,
): Promise<Captured> {
  const isCheaper = request.info.capabilities.cheap && !lab.keepsAll && (sized?.byteLength ?? 0) > STORED_BYTES
  if (!sized || !isCheaper) {
    return runEdited(request, edited, pool, lab)
  }
  const folder = await lab.makeFolder(sized.byteLength, MEMORY_BYTES)
  folders.push(folder)
  return captureInto(folder.path, editedRequest(request, { ...edited, shapes: sized.shapes }), request.info, pool, lab)
}
