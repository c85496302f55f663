import type { PairedTensor } from '../../../compare/layers/paired-tensor.ts'
import { StageError } from '../../../domain/errors.ts'
import { countBytes, type Tensor, type TensorChunk, type Trace } from '../../../domain/tensor.ts'
import { memoryTrace } from '../../../files/formats/memory-trace.ts'
import { joinBytes } from '../../../tensors/join-bytes.ts'
import { requireRuntime } from '../../tensors/sides.ts'
import { type PairRequest, sinkInto, taskOf } from '../pair-tasks.ts'
import { PairedStreams } from '../paired-streams.ts'
import { SIDES, targetOf } from '../sides.ts'
import type { LocalError, LocalReplay } from './contract.ts'
import { callOf, INPUTS, isPartOf, layerOf } from './layer-names.ts'
import { groupLayers } from './replay-groups.ts'

/** Inputs of layers that the host and a worker hold at a time. */
const MOST_BYTES = 64 * 2 ** 20

/** What goes into the modules of a model, by name, in bytes; and the outputs of the whole. */
interface Survey {
  readonly inputBytes: ReadonlyMap<string, number>
  readonly wholes: ReadonlySet<string>
}

/** Runs modules of the target alone, each on what the reference's gets, many of them in one pass. */
export async function replayModules(
  request: PairRequest,
  mostBytes = MOST_BYTES,
): Promise<LocalReplay | { absent: string }> {
  const { c, lab, options } = request
  for (const side of SIDES) {
    const target = targetOf(c, side)
    const { capabilities } = await requireRuntime(options, side, target)
    if (!capabilities.replay) return { absent: `${target.name} cannot run layers alone` }
  }
  let survey: Survey | undefined
  const title = 'see what goes into every layer of the reference'
  await lab.step({ title, stage: 'run', key: null, files: false }, async () => {
    survey = await surveyInputs(request)
  })
  return {
    isPart: isPartOf,
    isWhole: (name) => survey!.wholes.has(name),
    measureLocal: (names) => measureLocal(request, survey!, names, mostBytes),
  }
}

async function surveyInputs(request: PairRequest): Promise<Survey> {
  let bytes = new Map<string, number>()
  const makeSink = async () => {
    bytes = new Map()
    return async ({ name, dtype, shape, offset }: TensorChunk) => {
      if (offset === 0) bytes.set(name, countBytes(dtype, shape) ?? 0)
    }
  }
  const task = taskOf(request, 'reference', [`*${INPUTS}`])
  const { values } = await request.options.pool.capture({ ...task, makeSink })
  const inputBytes = new Map<string, number>()
  for (const [name, size] of bytes) {
    if (name.includes(INPUTS)) inputBytes.set(layerOf(name), (inputBytes.get(layerOf(name)) ?? 0) + size)
  }
  return { inputBytes, wholes: new Set(values.map(({ name }) => name).filter((name) => !name.includes(INPUTS))) }
}

async function measureLocal(
  request: PairRequest,
  { inputBytes }: Survey,
  names: readonly string[],
  mostBytes: number,
): Promise<ReadonlyMap<string, LocalError>> {
  const found = new Map<string, LocalError>()
  const layers = new Map<string, number>()
  for (const name of names) {
    const bytes = inputBytes.get(layerOf(name))
    if (bytes === undefined) found.set(name, { problem: 'no tensor goes into it' })
    else layers.set(layerOf(name), bytes)
  }
  const groups = groupLayers(layers, mostBytes)
  for (const [i, group] of groups.entries()) {
    const count = groups.length > 1 ? `, pass ${i + 1} of ${groups.length}` : ''
    const title = `run layers alone on what goes into the reference’s${count}`
    const wanted = names.filter((name) => group.includes(layerOf(name)))
    await request.lab.step({ title, stage: 'run', key: null, files: false }, async () => {
      for (const [name, error] of await replayGroup(request, group, wanted)) found.set(name, error)
    })
  }
  return found
}

/** A target that fails here has computed the whole model, so its verdict stands. */
async function replayGroup(
  request: PairRequest,
  group: readonly string[],
  names: readonly string[],
): Promise<Map<string, LocalError>> {
  try {
    const { tensors, warnings } = await runAlone(request, group, await readInputs(request, group))
    const given = new Map(tensors.map((tensor) => [tensor.name, tensor]))
    return new Map(names.map((name) => [name, errorOf(name, given.get(name), warnings)]))
  } catch (error) {
    if (!(error instanceof StageError) || request.lab.signal.aborted) throw error
    return new Map(names.map((name) => [name, { problem: error.message }]))
  }
}

function errorOf(name: string, given: PairedTensor | undefined, warnings: readonly string[]): LocalError {
  if (given?.sums) return { sums: given.sums }
  const said = warnings.find((warning) => warning.startsWith(`"${callOf(name)}" `))
  return { problem: said ?? given?.problem ?? 'it was not called' }
}

/** What goes into these layers of the reference. */
async function readInputs(request: PairRequest, group: readonly string[]): Promise<Trace> {
  const pieces = new Map<string, Tensor & { readonly parts: Uint8Array[] }>()
  const makeSink = async () => {
    pieces.clear()
    return async ({ name, dtype, shape, bytes }: TensorChunk) => {
      if (!name.includes(INPUTS)) return
      if (!pieces.has(name)) pieces.set(name, { dtype, shape, bytes: new Uint8Array(0), parts: [] })
      pieces.get(name)!.parts.push(bytes.slice())
    }
  }
  const task = taskOf(
    request,
    'reference',
    group.map((name) => `${name}${INPUTS}`),
  )
  await request.options.pool.capture({ ...task, makeSink })
  return memoryTrace(
    new Map([...pieces].map(([name, { dtype, shape, parts }]) => [name, { dtype, shape, bytes: joinBytes(parts) }])),
  )
}

interface Alone {
  readonly tensors: readonly PairedTensor[]
  /** Of the target. */
  readonly warnings: readonly string[]
}

/** The reference computes once more, beside the target, so that none of their outputs is held. */
async function runAlone(request: PairRequest, group: readonly string[], fed: Trace): Promise<Alone> {
  const { inputs, mask, options } = request
  const both = { values: [...inputs.values, ...fed.values], tensors: new Map([...inputs.tensors, ...fed.tensors]) }
  const tasks = [taskOf(request, 'reference', group), taskOf({ ...request, inputs: both }, 'target', group)]
  let streams = new PairedStreams({ mask })
  const { value } = await options.pool.captureTogether(tasks, () => {
    streams = new PairedStreams({ mask })
    return sinkInto(streams)
  })
  return { tensors: streams.tensors, warnings: value[1]!.warnings }
}
