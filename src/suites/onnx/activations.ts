import { DTYPES } from '../../domain/dtype.ts'
import { StageError } from '../../domain/errors.ts'
import type { Target } from '../../domain/target.ts'
import { elementCount, type TensorSource, type Trace, type ValueSpec } from '../../domain/tensor.ts'
import { digestOf } from '../../files/digest.ts'
import { type Branch, type FlatModel, flatten, type NodeKey } from '../../onnx/flatten.ts'
import { dtypesOf, shapeModel, shapeName, type TappedModel, tapModel } from '../../onnx/taps.ts'
import type { Lab } from '../../runs/contract.ts'
import type { RuntimeInfo } from '../../runtimes/contract.ts'
import type { Pool } from '../../runtimes/pool.ts'
import { decodeBigInts } from '../../tensors/decode.ts'
import { readWhole } from '../../tensors/read-whole.ts'
import { capture } from './capture.ts'
import type { LoadedModel } from './load.ts'

/** What the reference computed inside a model. */
export interface Activations {
  readonly flat: FlatModel
  readonly taken: ReadonlyMap<NodeKey, Branch>
  /** Inputs and every value that a node made, by name. */
  readonly values: ReadonlyMap<string, TensorSource>
}

export interface ActivationRequest {
  readonly reference: Target
  readonly info: RuntimeInfo
  readonly model: LoadedModel
  readonly inputs: Trace
  readonly inputsDigest: string
}

/** What one run may give: a worker holds all its outputs at once. */
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
  const { model } = request.model
  const made = valuesMadeIn(flat)
  const values = new Map(request.inputs.tensors)
  for (const [i, chunk] of (await planChunks(request, flat, made, run)).entries()) {
    const tapped = tapModel(model, flat, chunk)
    const trace = await run(`values ${i + 1}`, tapped.bytes, outputNames(tapped))
    for (const [value, { name }] of tapped.outputs) {
      const source = trace.tensors.get(name)
      if (source) values.set(value, { ...source, name: value })
    }
  }
  return { flat, taken, values }
}

type Run = (what: string, bytes: Uint8Array, names: readonly string[]) => Promise<Trace>

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
      const source = inputs.tensors.get(name) ?? made?.tensors.get(name)
      taken.set(key, (await isTrue(source, name)) ? 'then_branch' : 'else_branch')
    }
  }
}

async function isTrue(source: TensorSource | undefined, name: string): Promise<boolean> {
  if (!source) throw new StageError('extract', `the condition "${name}" was not given by the reference`)
  return (await readWhole(source))[0] !== 0
}

/** They make sequences and optionals, which workers do not give. */
const MAKE_NO_TENSORS = new Set(
  'SequenceConstruct SequenceEmpty SequenceInsert SequenceErase SequenceMap SplitToSequence Optional'.split(' '),
)

function valuesMadeIn({ nodes }: FlatModel): string[] {
  const made = [...nodes.values()].filter(({ opType }) => opType !== 'Constant' && !MAKE_NO_TENSORS.has(opType))
  return [...new Set(made.flatMap(({ output }) => output.filter(Boolean)))]
}

/** Values that fit into one run each; their sizes are found by running the model for the shapes alone. */
async function planChunks(
  { model }: ActivationRequest,
  flat: FlatModel,
  values: readonly string[],
  run: Run,
): Promise<string[][]> {
  const dtypes = dtypesOf(flat)
  try {
    const trace = await run('shapes', shapeModel(model.model, flat, values), values.map(shapeName))
    const sizes = new Map<string, number>()
    for (const value of values) {
      const shape = await shapeIn(trace, value)
      const dtype = dtypes.get(value)
      sizes.set(value, elementCount(shape) * (dtype ? DTYPES[dtype].bits / 8 : USUAL_BYTES))
    }
    return chunksOf(values, (value) => sizes.get(value)!, CHUNK_BYTES)
  } catch (error) {
    // Sequences have no shape, and a model with one among its values does not compile then.
    if (!(error instanceof StageError)) throw error
    return chunksOf(values, () => 1, CHUNK_VALUES)
  }
}

async function shapeIn(trace: Trace, value: string): Promise<number[]> {
  const source = trace.tensors.get(shapeName(value))
  if (!source) throw new StageError('extract', `the shape of "${value}" was not given by the reference`)
  const bytes = await readWhole(source)
  return Array.from(decodeBigInts('int64', bytes, 0, bytes.length / 8), Number)
}

/** In order, as many as fit; what is larger than the limit goes alone. */
export function chunksOf<T>(items: readonly T[], sizeOf: (item: T) => number, limit: number): T[][] {
  const chunks: T[][] = []
  let filled = Infinity
  for (const item of items) {
    const size = sizeOf(item)
    if (filled + size > limit) {
      chunks.push([])
      filled = 0
    }
    chunks.at(-1)!.push(item)
    filled += size
  }
  return chunks
}

interface Edited {
  readonly what: string
  readonly bytes: Uint8Array
  readonly names: readonly string[]
}

async function runEdited(
  { reference, info, model, inputs, inputsDigest }: ActivationRequest,
  { what, bytes, names }: Edited,
  pool: Pool,
  lab: Lab,
): Promise<Trace> {
  const expects = names.map((name): ValueSpec => ({ name, kind: 'tensor', dtype: null, shape: null }))
  const edited = { format: 'onnx', bytes, folder: model.model.folder } as const
  const modelDigest = digestOf({ model: model.digest, edited: digestOf(bytes) })
  const title = `look inside on ${reference.name}: ${what}`
  const request = { target: reference, side: 'reference', title, model: edited, modelDigest, expects } as const
  return (await capture({ ...request, inputs, inputsDigest }, info, pool, lab)).trace
}
