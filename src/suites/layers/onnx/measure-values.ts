import type { PairedTensor } from '../../../compare/layers/paired-tensor.ts'
import type { PaddingMask } from '../../../compare/layers/real-positions.ts'
import type { TensorSink, TensorSpec, Trace } from '../../../domain/tensor.ts'
import type { Side } from '../../../domain/verdict.ts'
import { type TappedModel, tapModel } from '../../../onnx/taps.ts'
import type { Lab } from '../../../runs/contract.ts'
import type { CaptureTask } from '../../../runtimes/host/capture-task.ts'
import type { JointRun } from '../../../runtimes/host/joint-capture.ts'
import type { JointMeasurement } from '../../../runtimes/host/joint-measure.ts'
import type { Pool } from '../../../runtimes/host/pool.ts'
import { sizedOutputs } from '../../tensors/inside/activations.ts'
import { splitIntoChunks } from '../../tensors/inside/chunks.ts'
import type { ValueSize } from '../../tensors/inside/value-sizes.ts'
import { sinkInto } from '../pair-tasks.ts'
import { PairedStreams } from '../paired-streams.ts'
import { type InnerModel, listValues } from './inner-model.ts'
import type { OnnxLayersCase } from './onnx-cases.ts'

/** What is measured, and on what. */
export interface ValuesRequest {
  readonly c: OnnxLayersCase
  readonly reference: InnerModel
  readonly target: InnerModel
  readonly inputs: Trace
  readonly mask: PaddingMask | null
  /** Of the reference's values; null: not known. */
  readonly sizes: ReadonlyMap<string, ValueSize> | null
}

/** The value of a layer in both models; null: that model has none. */
interface ValuePair {
  readonly name: string
  readonly reference: string | null
  readonly target: string | null
}

/** Of one side at a time, because its worker holds all of it until the other side gives the same. */
const CHUNK_BYTES = 160 * 2 ** 20
/** Where sizes are not known. */
const CHUNK_VALUES = 32
/** What is known of so many fits into one answer of a worker. */
const MOST_VALUES = 4096

/** Measures every value, a chunk of them in each run. */
export async function measureValues(
  request: ValuesRequest,
  pool: Pool,
  lab: Lab,
): Promise<JointMeasurement & { readonly retried: boolean }> {
  const pairs = pairValues(request)
  const measured = new Map<string, PairedTensor>()
  const runs: JointRun[][] = [[], []]
  let retried = false
  const chunks = planChunks(pairs, request)
  for (const [i, chunk] of chunks.entries()) {
    lab.progress(`run ${i + 1} of ${chunks.length}`)
    const { value, retried: wasRetried } = await measureChunk(chunk, request, pool, lab)
    for (const tensor of value.tensors) measured.set(tensor.name, tensor)
    for (const [side, run] of value.runs.entries()) runs[side]!.push(run)
    retried ||= wasRetried
  }
  return { tensors: pairs.flatMap(({ name }) => measured.get(name) ?? []), runs: runs.map(joinRuns), retried }
}

/** In the reference's order; then what only the target has. */
function pairValues({ reference, target }: ValuesRequest): ValuePair[] {
  const own = listValues(reference)
  const theirs = target === reference ? own : listValues(target)
  const found = new Map(theirs.map(({ name, value }) => [name, value]))
  const pairs = own.map(({ name, value }) => ({ name, reference: value, target: found.get(name) ?? null }))
  const known = new Set(own.map(({ name }) => name))
  const others = theirs.filter(({ name }) => !known.has(name))
  return [...pairs, ...others.map(({ name, value }) => ({ name, reference: null, target: value }))]
}

function planChunks(pairs: readonly ValuePair[], { sizes }: ValuesRequest): (readonly ValuePair[])[] {
  const most = sizes ? CHUNK_BYTES : CHUNK_VALUES
  const least = sizes ? CHUNK_BYTES / MOST_VALUES : 1
  const byName = new Map(pairs.map((pair) => [pair.name, pair]))
  const sizeOf = (name: string) => Math.max(least, sizes?.get(byName.get(name)!.reference ?? '')?.byteLength ?? 0)
  return splitIntoChunks(pairs, ({ name }) => [name], { sizeOf, most }).map(({ items }) => items)
}

/** Where one worker can run both sides, what they give stays there. */
async function measureChunk(chunk: readonly ValuePair[], request: ValuesRequest, pool: Pool, lab: Lab) {
  const { c, mask } = request
  const reference = tapSide(chunk, 'reference', request, lab)
  const target = tapSide(chunk, 'target', request, lab, reference)
  if (!(await pool.measuresTogether(c.referenceTarget, c.underTest))) {
    return measureStreams([reference, target], mask, pool)
  }
  const pairs = chunk.map(({ name, ...values }) => ({
    name,
    reference: values.reference === null ? null : reference.outputs.get(values.reference)!,
    target: values.target === null ? null : target.outputs.get(values.target)!,
  }))
  const shapes = { reference: shapesOf(reference, request), target: shapesOf(target, request) }
  return pool.measureTogether([reference.task, target.task], { pairs, mask, shapes })
}

/** A model of its own may give others, and shapes that do not fit cost a second run. */
function shapesOf({ tapped, task }: TappedSide, { sizes, reference, target }: ValuesRequest): readonly TensorSpec[] {
  const isKnown = sizes !== null && (task.side === 'reference' || target === reference)
  return isKnown ? sizedOutputs(tapped, sizes).shapes : []
}

interface TappedSide {
  readonly task: CaptureTask
  /** Output → layer. */
  readonly names: ReadonlyMap<string, string>
  /** Value → output. */
  readonly outputs: ReadonlyMap<string, string>
  readonly tapped: TappedModel['outputs']
}

function tapSide(
  chunk: readonly ValuePair[],
  side: Side,
  request: ValuesRequest,
  { signal }: Lab,
  other?: TappedSide,
): TappedSide {
  const { c, inputs } = request
  const under = side === 'reference' ? c.referenceTarget : c.underTest
  if (other && request.target === request.reference) return { ...other, task: { ...other.task, target: under, side } }
  const { loaded, flat } = request[side]
  const wanted = chunk.flatMap(({ name, [side]: value }) => (value === null ? [] : [{ name, value }]))
  const { bytes, outputs } = tapModel(
    loaded.model,
    flat,
    wanted.map(({ value }) => value),
  )
  const model = { format: 'onnx', bytes, folder: loaded.model.folder } as const
  return {
    task: { target: under, side, signal, model, inputs },
    names: new Map(wanted.map(({ name, value }) => [outputs.get(value)!.name, name])),
    outputs: new Map(Array.from(outputs, ([value, { name }]) => [value, name])),
    tapped: outputs,
  }
}

/** Both sides at the same time, in lockstep. */
async function measureStreams(sides: readonly TappedSide[], mask: PaddingMask | null, pool: Pool) {
  let streams = new PairedStreams({ mask })
  const tasks = sides.map(({ task }) => task)
  const { value: runs, retried } = await pool.captureTogether(tasks, () => {
    streams = new PairedStreams({ mask })
    const joint = sinkInto(streams)
    return { ...joint, sinks: sides.map(({ names }, i) => underNames(names, joint.sinks[i]!)) }
  })
  return { value: { tensors: streams.tensors, runs }, retried }
}

function underNames(names: TappedSide['names'], sink: TensorSink): TensorSink {
  return (chunk) => sink({ ...chunk, name: names.get(chunk.name) ?? chunk.name })
}

function joinRuns(runs: readonly JointRun[]): JointRun {
  const sum = (of: (run: JointRun) => number | null) => runs.reduce((total, run) => total + (of(run) ?? 0), 0)
  return {
    detail: runs[0]?.detail ?? {},
    durationsMs: {
      compile: sum(({ durationsMs }) => durationsMs.compile),
      run: sum(({ durationsMs }) => durationsMs.run),
    },
    warnings: [...new Set(runs.flatMap(({ warnings }) => warnings))],
  }
}
