import type { TensorSource, Trace, TraceValue } from '../../../domain/tensor.ts'
import { joinLayers } from '../../../onnx/layers/layer-model.ts'
import { type ModelFacts, modelFacts, writeModel } from '../../../onnx/model.ts'
import type { Lab, RunFolder } from '../../../runs/contract.ts'
import { type Captured, captureInto } from '../../tensors/capture.ts'
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
  const most = [...expected.tensors.values()].reduce((sum, { byteLength }) => sum + byteLength, 0)
  const folder = await lab.makeFolder(most, MEMORY_BYTES)
  const request = {
    target: underTest,
    side: 'target',
    title: `run ${members.length} layers side by side on ${underTest.name}`,
    model: { format: 'onnx', bytes: writeModel(proto), folder: options.cwd },
    modelDigest: '',
    expects: joined.outputs,
    isTrial: true,
    inputs: joinInputs(members, joined),
    inputsDigest: '',
    expected,
  } as const
  try {
    const captured = await captureInto(folder.path, request, info, options.pool, lab)
    if (captured.warnings.length > 0) throw new Warned()
    const detail = { version: info.version, ...info.detail, ...captured.detail, layers_in_session: members.length }
    return sidesOf(members, joined, folder, captured, {
      detail,
      warnings: [],
      alone: false,
      retried: false,
      path: null,
      info,
    })
  } catch (error) {
    await folder.remove()
    if (error instanceof Warned) return new Map()
    throw error
  }
}

class Warned extends Error {}

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
  folder: RunFolder,
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
      if (left.size === 0) await folder.remove()
    }
    return [id, { cut: member.cut, target: { ...common, trace: outputsOf(member, given) }, release }] as const
  })
  return new Map(sides)
}

/** What one island gave, under the names of its own model. */
function outputsOf({ cut }: Member, given: readonly (TensorSource | undefined)[]): Trace {
  return traceOf(cut.model.outputs.flatMap(({ name }, i) => (given[i] ? [{ ...given[i], name }] : [])))
}
