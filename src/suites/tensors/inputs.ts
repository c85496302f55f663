import { join } from 'node:path'
import { StageError } from '../../domain/errors.ts'
import { formatShape, type TensorSpec, type Trace, type ValueSpec } from '../../domain/tensor.ts'
import { sha256File } from '../../files/disk/digest.ts'
import { compileGlob } from '../../files/disk/glob.ts'
import { openTrace } from '../../files/formats/safetensors.ts'
import { createTraceWriter } from '../../files/formats/trace-writer.ts'
import { generateInputs, type MadeInputs } from '../../models/inputs/generate-inputs.ts'
import type { ChosenDim } from '../../models/inputs/input-dims.ts'
import type { InputPolicy } from '../../models/inputs/input-policy.ts'
import type { TriedSizes } from '../../models/inputs/size-search.ts'
import type { AskedShape } from '../../onnx/inputs/asked-shapes.ts'
import type { InputUse } from '../../onnx/inputs/input-uses.ts'

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
  /** Generated inputs that no operator restricts to certain values. */
  readonly plain: readonly TensorSpec[]
}

/** Found by a search; values given by the user take precedence. */
export interface FoundInputs extends TriedSizes {
  readonly policies: Readonly<Record<string, InputPolicy>>
}

const INPUTS_FILE = 'inputs.safetensors'

/** What the inputs of a case are made from. */
export interface MakingCase {
  readonly model: string
  readonly dims: Readonly<Record<string, number>>
  /** The only model of this run, so every given input and dimension must belong to it. */
  readonly onlyModel: boolean
}

export interface MakingOptions {
  readonly seed: number
  readonly inputs: readonly InputRules[]
  readonly cwd: string
}

/** Further facts about the inputs. */
export interface KnownOfInputs {
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
  { asked, found, mostBytes }: KnownOfInputs = {},
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
