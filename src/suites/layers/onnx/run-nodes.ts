import { measurePair } from '../../../compare/layers/paired-tensor.ts'
import type { PaddingMask } from '../../../compare/layers/real-positions.ts'
import { SkipCase, StageError } from '../../../domain/errors.ts'
import type { Tensor, TensorSource, Trace } from '../../../domain/tensor.ts'
import { joinLayers } from '../../../onnx/layers/layer-model.ts'
import { modelFacts, writeModel } from '../../../onnx/model.ts'
import type { Lab } from '../../../runs/contract.ts'
import type { Pool } from '../../../runtimes/host/pool.ts'
import { readWhole } from '../../../tensors/read-whole.ts'
import { sinkWhole } from '../../../tensors/whole-tensors.ts'
import { splitIntoChunks } from '../../tensors/inside/chunks.ts'
import type { CutLayer } from '../../tensors/inside/cut-layer.ts'
import type { LocalError } from '../judging/contract.ts'
import type { OnnxLayersCase } from './onnx-cases.ts'

/** A node as a model of its own, with one output and what the reference computed there. */
export interface CutNode {
  readonly name: string
  readonly cut: CutLayer
  readonly recorded: TensorSource
}

/** Where nodes are run. */
export interface NodePlace {
  readonly c: OnnxLayersCase
  readonly lab: Lab
  readonly pool: Pool
  readonly cwd: string
  readonly mask: PaddingMask | null
}

type Errors = readonly (readonly [name: string, error: LocalError])[]

/** Of what the nodes of one session take and give. */
const SESSION_BYTES = 2 ** 26
const SESSION_NODES = 128

/** Where the target allows it, nodes run side by side, as islands of one graph. */
export async function runNodes(nodes: readonly CutNode[], place: NodePlace): Promise<Errors> {
  const info = await place.pool.probe(place.c.underTest)
  const { islands, sharedMemory } = info.available ? info.capabilities : {}
  const most = islands && !sharedMemory && !place.pool.isolatesCases ? SESSION_NODES : 1
  const sizes = new Map(nodes.map((node) => [node.name, Math.max(bytesOf(node) / SESSION_BYTES, 1 / most)]))
  const limit = { sizeOf: (name: string) => sizes.get(name)!, most: 1 }
  const errors: Errors[] = []
  for (const { items } of splitIntoChunks(nodes, ({ name }) => [name], limit)) {
    errors.push(await runOrSplit(items, place))
  }
  return errors.flat()
}

function bytesOf({ cut, recorded }: CutNode): number {
  return [recorded, ...cut.inputs.tensors.values()].reduce((sum, { byteLength }) => sum + byteLength, 0)
}

/** Where a session is refused or its worker fails, each half is tried. */
async function runOrSplit(nodes: readonly CutNode[], place: NodePlace): Promise<Errors> {
  try {
    return await runTogether(nodes, place)
  } catch (error) {
    if (!(error instanceof StageError || error instanceof SkipCase) || place.lab.signal.aborted) throw error
    if (nodes.length === 1) return [[nodes[0]!.name, { problem: error.message }]]
    const middle = Math.ceil(nodes.length / 2)
    const first = await runOrSplit(nodes.slice(0, middle), place)
    return [...first, ...(await runOrSplit(nodes.slice(middle), place))]
  }
}

async function runTogether(nodes: readonly CutNode[], { c, lab, pool, cwd, mask }: NodePlace): Promise<Errors> {
  const proto = joinLayers(nodes.map(({ cut }) => cut.model.proto))
  const { inputs, outputs } = modelFacts(proto, proto.graph!)
  const byOutput = new Map(outputs.map(({ name }, i) => [name, nodes[i]!]))
  let errors = new Map<string, LocalError>()
  const measure = async (output: string, given: Tensor) => {
    const { name, recorded } = byOutput.get(output)!
    const { dtype, shape } = recorded
    const { sums, problem } = measurePair(name, { dtype, shape, bytes: await readWhole(recorded) }, given, mask)
    errors.set(name, sums ? { sums } : { problem: problem! })
  }
  await pool.capture({
    target: c.underTest,
    side: 'target',
    signal: lab.signal,
    model: { format: 'onnx', bytes: writeModel(proto), folder: cwd },
    inputs: joinInputs(nodes, inputs),
    expects: outputs,
    isTrial: nodes.length > 1,
    makeSink: async () => {
      errors = new Map()
      return sinkWhole(measure)
    },
  })
  return [...errors]
}

/** The inputs of all, in order. */
function joinInputs(nodes: readonly CutNode[], inputs: readonly { readonly name: string }[]): Trace {
  const sources = nodes.flatMap(({ cut }) => [...cut.inputs.tensors.values()])
  const named = inputs.map(({ name }, i) => ({ ...sources[i]!, name }))
  return {
    values: named.map(({ name }) => ({ name, kind: 'tensor', length: 1 })),
    tensors: new Map(named.map((source) => [source.name, source])),
  }
}
