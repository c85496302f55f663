import { DTYPES, type DType } from '../../../domain/dtype.ts'
import { StageError } from '../../../domain/errors.ts'
import type { Target } from '../../../domain/target.ts'
import { elementCount, type TensorSource, type Trace, type ValueSpec } from '../../../domain/tensor.ts'
import { computeDigest } from '../../../files/disk/digest.ts'
import { type Branch, type FlatModel, flatten, type NodeKey } from '../../../onnx/flatten.ts'
import { type FlatIndex, findLayer, indexFlat, type Layer } from '../../../onnx/layers/layer-border.ts'
import type { LayerSite } from '../../../onnx/layers/layer-sites.ts'
import { inferDTypes, shapeModel, shapeName, type TappedModel, tapModel } from '../../../onnx/taps.ts'
import type { Lab, RunFolder } from '../../../runs/contract.ts'
import type { RuntimeInfo } from '../../../runtimes/contract.ts'
import type { Pool } from '../../../runtimes/host/pool.ts'
import { decodeBigInts } from '../../../tensors/decode.ts'
import { readWhole } from '../../../tensors/read-whole.ts'
import { type Captured, type CaptureRequest, capture, captureInto } from '../capture.ts'
import type { LoadedModel } from '../load.ts'
import { type Chunk, splitIntoChunks } from './chunks.ts'
import type { Recorded } from './cut-layer.ts'

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

export interface ActivationRequest {
  readonly reference: Target
  readonly info: RuntimeInfo
  readonly model: LoadedModel
  readonly inputs: Trace
  readonly inputsDigest: string
  readonly sites: readonly Pick<LayerSite, 'scope' | 'keys'>[]
}

/** Limit for one run, because a worker holds all its outputs at once. */
const CHUNK_BYTES = 256 * 2 ** 20
/** Where sizes could not be measured. */
const CHUNK_VALUES = 32
/** Of values whose dtype is not known before they are computed. */
const USUAL_BYTES = 4

/** Runs a model on the reference, as often as it takes to see all that happens inside. */
export async function recordActivations(request: ActivationRequest, pool: Pool, lab: Lab): Promise<Activations> {
  const run = (what: string, bytes: Uint8Array, names: readonly string[]) =>
    runEdited(request, { what, bytes, names }, pool, lab)
  const { flat, taken } = await decideBranches(request, run)
  const index = indexFlat(flat)
  const dtypes = inferDTypes(flat)
  const layers = new Map<string, RecordedLayer>()
  const outputs = new Map<string, TensorSource>()
  const folders: RunFolder[] = []
  const chunks = await planChunks(request, flat, layersIn(flat, index, request.sites), dtypes, run)
  for (const [i, { items, values, size }] of chunks.entries()) {
    const recorded = await recordValues(request, flat, values, (bytes, names) =>
      runSized(request, { what: `values ${i + 1}`, bytes, names }, size, folders, pool, lab),
    )
    for (const [scope, layer] of items) layers.set(scope, { ...layer, ...recorded })
    for (const name of index.outputs) if (values.has(name)) outputs.set(name, recorded.values.get(name)!)
  }
  const forget = async () => void (await Promise.all(folders.map((folder) => folder.remove())))
  return { flat, index, dtypes, taken, layers, outputs: traceOf(outputs), forget }
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
  run: (bytes: Uint8Array, names: readonly string[]) => Promise<Captured>,
): Promise<Recorded> {
  const tapped = tapModel(model.model, flat, [...wanted])
  const { trace, key } = await run(tapped.bytes, outputNames(tapped))
  const values = new Map(inputs.tensors)
  for (const [value, { name }] of tapped.outputs) {
    const source = trace.tensors.get(name)
    if (source) values.set(value, { ...source, name: value })
  }
  return { values, digest: key! }
}

type Run = (what: string, bytes: Uint8Array, names: readonly string[]) => Promise<Captured>

const outputNames = ({ outputs }: TappedModel) => Array.from(outputs.values(), ({ name }) => name)

/** Outer Ifs first: inner ones are seen when the branch around them is known. */
async function decideBranches(
  { model, inputs }: ActivationRequest,
  run: Run,
): Promise<{ flat: FlatModel; taken: ReadonlyMap<NodeKey, Branch> }> {
  const taken = new Map<NodeKey, Branch>()
  for (let depth = 1; ; depth++) {
    const flat = flatten(model.model, taken)
    if (flat.undecided.size === 0) return { flat, taken }
    const conditions = [...new Set(flat.undecided.values())].filter((name) => !inputs.tensors.has(name))
    const tapped = tapModel(model.model, flat, conditions)
    const made = conditions.length > 0 ? await run(`conditions ${depth}`, tapped.bytes, conditions) : null
    for (const [key, name] of flat.undecided) {
      const source = inputs.tensors.get(name) ?? made?.trace.tensors.get(name)
      taken.set(key, (await isTrue(source, name)) ? 'then_branch' : 'else_branch')
    }
  }
}

async function isTrue(source: TensorSource | undefined, name: string): Promise<boolean> {
  if (!source) throw new StageError('extract', `the reference did not return the condition "${name}"`)
  return (await readWhole(source))[0] !== 0
}

/** They make sequences and optionals, which workers cannot return. */
const MAKE_NO_TENSORS = new Set(
  'SequenceConstruct SequenceEmpty SequenceInsert SequenceErase SequenceMap SplitToSequence Optional'.split(' '),
)

/** Values that nodes make and workers can give. */
function tensorsMadeIn({ nodes }: FlatModel): Set<string> {
  const makers = [...nodes.values()].filter(({ opType }) => opType !== 'Constant' && !MAKE_NO_TENSORS.has(opType))
  return new Set(makers.flatMap(({ output }) => output.filter(Boolean)))
}

/** Without a size where they could not be measured. */
type ValueChunk = Omit<Chunk<NamedLayer>, 'size'> & { readonly size?: number }

/** Layers whose values fit into one run; their sizes are found by running the model for the shapes alone. */
async function planChunks(
  { model }: ActivationRequest,
  flat: FlatModel,
  layers: readonly NamedLayer[],
  dtypes: ReadonlyMap<string, DType>,
  run: Run,
): Promise<ValueChunk[]> {
  const made = tensorsMadeIn(flat)
  const valuesOf = ([, { inputs, outputs }]: NamedLayer) => [...inputs, ...outputs].filter((name) => made.has(name))
  const values = [...new Set(layers.flatMap(valuesOf))]
  try {
    const { trace } = await run('shapes', shapeModel(model.model, flat, values), values.map(shapeName))
    const sizes = new Map<string, number>()
    for (const value of values) {
      const dtype = dtypes.get(value)
      const bytes = dtype ? DTYPES[dtype].bits / 8 : USUAL_BYTES
      sizes.set(value, elementCount(await shapeIn(trace, value)) * bytes)
    }
    return splitIntoChunks(layers, valuesOf, { sizeOf: (value) => sizes.get(value)!, most: CHUNK_BYTES })
  } catch (error) {
    // Sequences have no shape, and a model with one among its values does not compile then.
    if (!(error instanceof StageError)) throw error
    const chunks = splitIntoChunks(layers, valuesOf, { sizeOf: () => 1, most: CHUNK_VALUES })
    return chunks.map(({ items, values }) => ({ items, values }))
  }
}

async function shapeIn(trace: Trace, value: string): Promise<number[]> {
  const source = trace.tensors.get(shapeName(value))
  if (!source) throw new StageError('extract', `the reference did not return the shape of "${value}"`)
  const bytes = await readWhole(source)
  return Array.from(decodeBigInts('int64', bytes, 0, bytes.length / 8), Number)
}

interface Edited {
  readonly what: string
  readonly bytes: Uint8Array
  readonly names: readonly string[]
}

function runEdited(request: ActivationRequest, edited: Edited, pool: Pool, lab: Lab): Promise<Captured> {
  return capture(captureRequest(request, edited), request.info, pool, lab)
}

/** In memory, of all values inside models. */
const MEMORY_BYTES = 2 ** 29

/** Values of a known size are not stored where computing them again is as cheap. */
async function runSized(
  request: ActivationRequest,
  edited: Edited,
  size: number | undefined,
  folders: RunFolder[],
  pool: Pool,
  lab: Lab,
): Promise<Captured> {
  if (size === undefined || !request.info.capabilities.cheap || lab.keepsAll) {
    return runEdited(request, edited, pool, lab)
  }
  const folder = await lab.makeFolder(size, MEMORY_BYTES)
  folders.push(folder)
  return captureInto(folder.path, captureRequest(request, edited), request.info, pool, lab)
}

function captureRequest(
  { reference, model, inputs, inputsDigest }: ActivationRequest,
  { what, bytes, names }: Edited,
): CaptureRequest {
  return {
    target: reference,
    side: 'reference',
    title: `look inside the model on ${reference.name}: ${what}`,
    model: { format: 'onnx', bytes, folder: model.model.folder },
    modelDigest: computeDigest({ model: model.digest, edited: computeDigest(bytes) }),
    expects: names.map((name): ValueSpec => ({ name, kind: 'tensor', dtype: null, shape: null })),
    lasting: true,
    inputs,
    inputsDigest,
  }
}
