import { StageError } from '../../../domain/errors.ts'
import { formatShape, type Trace, type ValueSpec } from '../../../domain/tensor.ts'
import { computeDigest } from '../../../files/disk/digest.ts'
import { findAskedShapes } from '../../../onnx/inputs/asked-shapes.ts'
import { findInputUses } from '../../../onnx/inputs/input-uses.ts'
import type { Lab } from '../../../runs/contract.ts'
import {
  type FoundInputs,
  type KnownOfInputs,
  type MakingCase,
  type MakingOptions,
  makeInputs,
  type PreparedInputs,
} from '../inputs.ts'
import type { LoadedModel } from '../load.ts'
import { readDataSet } from './recorded.ts'

export interface DataSetCase extends MakingCase {
  /** A folder with recorded inputs; null: they are made. */
  readonly dataSet: string | null
}

/** The data set's inputs, or inputs that are made: seeded, and fitting their use in the graph. */
export async function prepareInputs(
  c: DataSetCase,
  model: LoadedModel,
  lab: Lab,
  options: MakingOptions,
  found?: FoundInputs,
): Promise<PreparedInputs> {
  let prepared: PreparedInputs | undefined
  await lab.step({ title: 'prepare inputs', stage: 'inputs', key: null }, async (folder) => {
    prepared =
      c.dataSet === null ? await makeFor(c, model, options, folder, { found }) : await readInputs(c.dataSet, model)
  })
  return prepared!
}

/** Inputs for a model, written into the folder. */
export function makeFor(
  c: MakingCase,
  { model: { inputs, proto } }: LoadedModel,
  options: MakingOptions,
  folder: string,
  more: Omit<KnownOfInputs, 'asked'> = {},
): Promise<PreparedInputs> {
  return makeInputs(c, inputs, findInputUses(proto), options, folder, { asked: findAskedShapes(proto), ...more })
}

async function readInputs(dataSet: string, { model }: LoadedModel): Promise<PreparedInputs> {
  const trace = await readDataSet(dataSet, 'input', model.inputs, 'inputs', 'reference')
  checkScalars(model.inputs, trace)
  return {
    trace,
    digest: await traceDigest(trace),
    path: null,
    generated: false,
    measurements: {},
    dims: [],
    plain: [],
  }
}

/** Whether a model declares a scalar or no shape at all is not told by every runtime, so that is not left to them. */
function checkScalars(specs: readonly ValueSpec[], { tensors }: Trace): void {
  for (const { name, kind, shape } of specs) {
    const found = tensors.get(name)?.shape ?? []
    if (kind !== 'tensor' || shape?.length !== 0 || found.length === 0) continue
    throw new StageError('inputs', `the recorded input "${name}" has shape ${formatShape(found)}, expected a scalar`)
  }
}

/** Content of all values. */
async function traceDigest({ values, tensors }: Trace): Promise<string> {
  const parts: unknown[] = [values]
  for (const { name, dtype, shape, chunks } of tensors.values()) {
    const digests: string[] = []
    for await (const chunk of chunks()) digests.push(computeDigest(chunk))
    parts.push({ name, dtype, shape, digests })
  }
  return computeDigest(parts)
}
