import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type FailureDetail, StageError } from '../../domain/errors.ts'
import type { Target } from '../../domain/target.ts'
import type { TensorSink, TensorSource, Trace, ValueSpec } from '../../domain/tensor.ts'
import type { ModelRun, Session } from '../contract.ts'
import { sendTensor } from '../worker/send-tensor.ts'
import { type Build, type BuildPlace, type ToolchainOrder, useTool } from './build.ts'
import { boundOutputs, checkOutput, knownShapes } from './output-shapes.ts'
import { asPlaceholders, type TemplateValues } from './template.ts'
import { makePlaces, readOutputs, writeInputs } from './tensor-files.ts'

/** A compiled model; every run is a process of its own, in a folder of its own. */
export function toolchainSession(order: ToolchainOrder, built: Build, site: BuildPlace, target: Target): Session {
  const { inputs, outputs } = built.model
  const { name, tensors } = order.toolchain
  let runs = 0
  return {
    inputs,
    outputs,
    detail: { toolchain: name, tensors },
    run: async (trace, sink, logs) => {
      const folder = join(site.folder, `run-${runs++}`)
      await mkdir(folder)
      try {
        return await run(order, built, target, trace, sink, { folder, logs: logs ?? folder })
      } finally {
        await rm(folder, { recursive: true, force: true })
      }
    },
    close: () => rm(site.folder, { recursive: true, force: true }),
  }
}

async function run(
  order: ToolchainOrder,
  { model, values }: Build,
  target: Target,
  trace: Trace,
  sink: TensorSink,
  { folder, logs }: BuildPlace,
): Promise<ModelRun> {
  const kind = order.toolchain.tensors
  const given = model.inputs.map((spec) => ({ ...spec, ...specOf(trace.tensors.get(spec.name)!) }))
  const bound = boundOutputs(model, trace)
  const inputs = await makePlaces(kind, folder, 'input', given)
  const outputs = await makePlaces(kind, folder, 'output', bound)
  await writeInputs(kind, inputs, given, trace)
  const places = { inputs: inputs.whole, input: inputs.files, outputs: outputs.whole, output: outputs.files }
  const { durationMs, detail } = await useTool(order, 'run', { ...values, ...places }, logs)
  await blamingTool({ ...values, ...places }, detail, async () => {
    const sources = await readOutputs(kind, outputs, bound, knownShapes(bound))
    for (const [i, source] of sources.entries()) checkOutput(bound[i]!, source, target)
    for (const source of sources) await sendTensor(source, sink)
  })
  return { durationMs, values: model.outputs.map(({ name }) => ({ name, kind: 'tensor', length: 1 })) }
}

function specOf({ dtype, shape }: TensorSource): Pick<ValueSpec, 'dtype' | 'shape'> {
  return { dtype, shape }
}

/** What is wrong with a tool's work is told with how it was called and what it printed. */
async function blamingTool(values: TemplateValues, detail: FailureDetail, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof StageError)) throw error
    throw new StageError(error.stage, asPlaceholders(error.message, values), { detail, cause: error })
  }
}
