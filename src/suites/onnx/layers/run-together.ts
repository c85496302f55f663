import type { TensorSource, Trace, TraceValue } from '../../../domain/tensor.ts'
import { computeDigest } from '../../../files/disk/digest.ts'
import { joinLayers } from '../../../onnx/layers/layer-model.ts'
import { type ModelFacts, modelFacts, writeModel } from '../../../onnx/model.ts'
import type { Lab, RunFolder } from '../../../runs/contract.ts'
import type { RuntimeInfo } from '../../../runtimes/contract.ts'
import { type Captured, type CaptureRequest, capture, captureInto } from '../../tensors/capture.ts'
import { STORED_BYTES } from '../../tensors/inside/activations.ts'
import { type CapturedSide, requireRuntime } from '../../tensors/sides.ts'
import type { OnnxSuiteContext } from '../suite.ts'
import type { IslandSide, Member } from './islands.ts'

/** In memory, of all values of a run: those inside its models leave this much free for what targets give. */
const MEMORY_BYTES = 3 * 2 ** 28

/** Runs layers as islands of one graph, by the id of their case; none if the device warned of its work. */
export async function runTogether(
  members: readonly Member[],
  lab: Lab,
  options: OnnxSuiteContext,
): Promise<ReadonlyMap<string, IslandSide>> {
  const { underTest } = members[0]!.c
  const info = await requireRuntime(options, 'target', underTest)
  const proto = joinLayers(members.map(({ cut }) => cut.model.proto))
  const joined = modelFacts(proto, proto.graph!)
  const expected = joinOutputs(members, joined)
  const bytes = writeModel(proto)
  const request = {
    target: underTest,
    side: 'target',
    title: `run ${members.length} layers side by side on ${underTest.name}`,
    model: { format: 'onnx', bytes, folder: options.cwd },
    modelDigest: computeDigest(bytes),
    expects: joined.outputs,
    isTrial: true,
    inputs: joinInputs(members, joined),
    inputsDigest: computeDigest(members.map(({ cut }) => cut.inputsDigest)),
    expected,
  } as const
  const { captured, folder } = await run(request, expected, info, lab, options)
  if (captured.warnings.length > 0) {
    await folder?.remove()
    return new Map()
  }
  const detail = { version: info.version, ...info.detail, ...captured.detail, layers_in_session: members.length }
  const common = { detail, warnings: [], alone: false, retried: false, path: null, info }
  return sidesOf(members, joined, folder, captured, common)
}

interface Ran {
  readonly captured: Captured
  /** null: the cache keeps it. */
  readonly folder: RunFolder | null
}

/** Only little is stored: with much, running again costs less than reading it back. */
async function run(
  request: CaptureRequest,
  expected: Pick<Trace, 'tensors'>,
  info: RuntimeInfo,
  lab: Lab,
  { pool }: OnnxSuiteContext,
): Promise<Ran> {
  const most = [...expected.tensors.values()].reduce((sum, { byteLength }) => sum + byteLength, 0)
  if (most <= STORED_BYTES) {
    return { captured: await capture({ ...request, lasting: true }, info, pool, lab), folder: null }
  }
  const folder = await lab.makeFolder(most, MEMORY_BYTES)
  try {
    return { captured: await captureInto(folder.path, request, info, pool, lab), folder }
  } catch (error) {
    await folder.remove()
    throw error
  }
}

/** The inputs of all, in order. */
function joinInputs(members: readonly Member[], { inputs }: ModelFacts): Trace {
  const sources = members.flatMap(({ cut }) => [...cut.inputs.tensors.values()])
  return traceOf(inputs.map(({ name }, i) => ({ ...sources[i]!, name })))
}

/** What the reference gave, in order. */
function joinOutputs(members: readonly Member[], { outputs }: ModelFacts): Trace {
  const sources = members.flatMap(({ given }) => [...given.tensors.values()])
  return traceOf(outputs.map(({ name }, i) => ({ ...sources[i]!, name })))
}

function traceOf(sources: readonly TensorSource[]): Trace {
  return {
    values: sources.map(({ name }): TraceValue => ({ name, kind: 'tensor', length: 1 })),
    tensors: new Map(sources.map((source) => [source.name, source])),
  }
}

function sidesOf(
  members: readonly Member[],
  joined: ModelFacts,
  folder: RunFolder | null,
  { trace }: Captured,
  common: Omit<CapturedSide, 'trace'>,
): ReadonlyMap<string, IslandSide> {
  const left = new Set(members)
  const names = joined.outputs.map(({ name }) => name)
  const sides = members.map((member) => {
    const { id } = member.c
    const given = names.splice(0, member.cut.model.outputs.length).map((name) => trace.tensors.get(name))
    const release = async () => {
      left.delete(member)
      if (left.size === 0) await folder?.remove()
    }
    return [id, { cut: member.cut, target: { ...common, trace: outputsOf(member, given) }, release }] as const
  })
  return new Map(sides)
}

/** What one island gave, under the names of its own model. */
function outputsOf({ cut }: Member, given: readonly (TensorSource | undefined)[]): Trace {
  return traceOf(cut.model.outputs.flatMap(({ name }, i) => (given[i] ? [{ ...given[i], name }] : [])))
}
