import { join } from 'node:path'
import { StageError } from '../../domain/errors.ts'
import { formatShape, type TensorSpec, type Trace, type ValueSpec } from '../../domain/tensor.ts'
import { digestOf, sha256File } from '../../files/disk/digest.ts'
import { compileGlob } from '../../files/disk/glob.ts'
import { openTrace } from '../../files/formats/safetensors.ts'
import { createTraceWriter } from '../../files/formats/trace-writer.ts'
import { generateInputs, type MadeInputs } from '../../models/inputs/generate-inputs.ts'
import type { ChosenDim } from '../../models/inputs/input-dims.ts'
import type { InputPolicy } from '../../models/inputs/input-policy.ts'
import type { TriedSizes } from '../../models/inputs/size-search.ts'
import { type AskedShape, findAskedShapes } from '../../onnx/inputs/asked-shapes.ts'
import { findInputUses, type InputUse } from '../../onnx/inputs/input-uses.ts'
import type { Lab } from '../../runs/contract.ts'
import type { LoadedModel } from '../tensors/load.ts'
import type { FullModelCase } from './full-model.ts'
import { readDataSet } from './recorded.ts'
import type { OnnxSuiteOptions } from './suite.ts'

/** How inputs of models whose name matches are filled; later rules win. */
export interface InputRules {
  readonly match: string
  readonly policies: Readonly<Record<string, InputPolicy>>
}

export interface PreparedInputs {
  readonly trace: Trace
  /** Content of all inputs. */
  readonly digest: string
  /** null: read from the user's own files. */
  readonly path: string | null
  /** Some input was made up, so constant outputs prove nothing. */
  readonly generated: boolean
  /** What was chosen, for the record. */
  readonly measurements: Readonly<Record<string, string | number>>
  /** Sizes that the model leaves open, as given or chosen. */
  readonly dims: readonly ChosenDim[]
  /** Inputs that were made up, and that no operator asks certain values of. */
  readonly plain: readonly TensorSpec[]
}

/** What was found out by trying; what the user gives counts more. */
export interface FoundInputs extends TriedSizes {
  readonly policies: Readonly<Record<string, InputPolicy>>
}

const INPUTS_FILE = 'inputs.safetensors'

/** The data set's inputs, or inputs that are made: seeded, and fitting their use in the graph. */
export async function prepareInputs(
  c: FullModelCase,
  model: LoadedModel,
  lab: Lab,
  options: OnnxSuiteOptions,
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
  more: Omit<Learnt, 'asked'> = {},
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

/** What the inputs of a case are made from. */
type MakingCase = Pick<FullModelCase, 'model' | 'dims' | 'onlyModel'>
type MakingOptions = Pick<OnnxSuiteOptions, 'seed' | 'inputs' | 'cwd'>

/** What is known besides. */
interface Learnt {
  readonly asked?: ReadonlyMap<string, AskedShape>
  readonly found?: FoundInputs | undefined
  /** No input that is made may take more. */
  readonly mostBytes?: number | undefined
}

/** Written into the folder. */
export async function makeInputs(
  c: MakingCase,
  specs: readonly ValueSpec[],
  uses: ReadonlyMap<string, InputUse>,
  options: MakingOptions,
  folder: string,
  { asked, found, mostBytes }: Learnt = {},
): Promise<PreparedInputs> {
  const made = await generateInputs(specs, uses, {
    seed: options.seed,
    dims: c.dims,
    ...(asked && { asked }),
    ...(mostBytes !== undefined && { mostBytes }),
    ...(found && { found: found.dims, ranks: found.ranks }),
    policies: { ...found?.policies, ...policiesFor(c.model, options.inputs) },
    folder: options.cwd,
  })
  if (c.onlyModel) refuseUnused(made)
  const path = join(folder, INPUTS_FILE)
  const sha256 = await writeInputs(path, made)
  return {
    trace: await openTrace(path),
    digest: sha256,
    path,
    generated: made.choices.some((choice) => !choice.given),
    measurements: describeInputs(made),
    dims: made.dims,
    plain: made.choices.filter((choice) => choice.plain),
  }
}

export function policiesFor(model: string, rules: readonly InputRules[]): Record<string, InputPolicy> {
  return Object.assign({}, ...rules.filter((rule) => compileGlob(rule.match).test(model)).map((rule) => rule.policies))
}

/** A mistyped name would silently test something else. With several models a name may belong to another one. */
function refuseUnused(made: MadeInputs): void {
  const names = made.choices.map((choice) => choice.name).join(', ')
  for (const name of made.unusedPolicies) {
    throw new StageError('inputs', `the model has no input "${name}"; its inputs are ${names}`)
  }
  for (const name of made.unusedDims) {
    const dims = made.dims.map((dim) => dim.name).join(', ') || 'none'
    throw new StageError('inputs', `the model has no open dimension "${name}"; its open dimensions are ${dims}`)
  }
}

async function writeInputs(path: string, made: MadeInputs): Promise<string> {
  const writer = createTraceWriter(path, made.tensors.size)
  try {
    for (const [name, tensor] of made.tensors) await writer.sink({ name, ...tensor, offset: 0, last: true })
    await writer.finish(made.values)
    return await sha256File(path)
  } finally {
    await writer.abort()
  }
}

function describeInputs({ choices, dims }: MadeInputs): Record<string, string> {
  const inputs = choices.map(({ name, dtype, shape, how }) => [
    `input.${name}`,
    `${dtype} ${formatShape(shape)}, ${how}`,
  ])
  const sizes = dims.map(({ name, size, because }) => [`dim.${name}`, `${size} (${because})`])
  return Object.fromEntries([...inputs, ...sizes])
}

/** Content of all values. */
async function traceDigest({ values, tensors }: Trace): Promise<string> {
  const parts: unknown[] = [values]
  for (const { name, dtype, shape, chunks } of tensors.values()) {
    const digests: string[] = []
    for await (const chunk of chunks()) digests.push(digestOf(chunk))
    parts.push({ name, dtype, shape, digests })
  }
  return digestOf(parts)
}
