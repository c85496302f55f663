import { DTYPES, type DType } from '../../domain/dtype.ts'
import { FormatError, SkipCase, StageError } from '../../domain/errors.ts'
import {
  countBytes,
  elementCount,
  formatShape,
  type Tensor,
  type TensorSpec,
  type TraceValue,
  type ValueSpec,
} from '../../domain/tensor.ts'
import type { AskedShape } from '../../onnx/inputs/asked-shapes.ts'
import type { InputUse } from '../../onnx/inputs/input-uses.ts'
import type { StoredValue } from '../../onnx/tensors/value-file.ts'
import { encodeBigInts, encodeNumbers } from '../../tensors/encode.ts'
import { encodeStrings } from '../../tensors/strings.ts'
import { type RandomStream, randomStream } from '../random.ts'
import { bindInputShapes, type ChosenDim } from './input-dims.ts'
import { readInputFile } from './input-file.ts'
import { fillForUse, fillPlain, fillRange, type ShapeOf } from './input-fill.ts'
import type { InputFunction, InputPolicy } from './input-policy.ts'
import { UNDECLARED, withRanks } from './input-ranks.ts'
import { fillSignal } from './input-signal.ts'

export interface InputOptions {
  readonly seed: number
  /** Sizes by symbolic name, or by `input[axis]`. */
  readonly dims: Readonly<Record<string, number>>
  /** Sizes that were found by trying, named like `dims`; what the user gave counts more. */
  readonly found?: Readonly<Record<string, number>>
  /** Number of axes that were found by trying, of inputs that declare no shape. */
  readonly ranks?: Readonly<Record<string, number>>
  /** What operators ask of the shapes. */
  readonly asked?: ReadonlyMap<string, AskedShape>
  /** No input that is made takes more; 2 GiB unless said otherwise. */
  readonly mostBytes?: number
  /** By input name; what is not named is generated. */
  readonly policies: Readonly<Record<string, InputPolicy>>
  /** Where relative files of policies lie. */
  readonly folder: string
}

/** How one input was filled, in words. */
interface InputChoice {
  readonly name: string
  readonly dtype: DType
  readonly shape: readonly number[]
  readonly how: string
  /** No operator asks for certain values, nor does the user. */
  readonly plain: boolean
  /** From a file, a value or a function of the user; false: made up by Assay. */
  readonly given: boolean
}

export interface MadeInputs {
  readonly values: readonly TraceValue[]
  readonly tensors: ReadonlyMap<string, Tensor>
  readonly choices: readonly InputChoice[]
  readonly dims: readonly ChosenDim[]
  /** Given dimensions that no input has. */
  readonly unusedDims: readonly string[]
  /** Policies for inputs that the model does not have. */
  readonly unusedPolicies: readonly string[]
}

const MAX_GENERATED_BYTES = 2 ** 31
const WORDS = ['', 'a', 'alpha', 'Beta', 'two words', 'naïve', '数', '42']

interface Making {
  readonly options: InputOptions
  readonly uses: ReadonlyMap<string, InputUse>
  readonly shapes: ReadonlyMap<string, readonly number[]>
  readonly stored: ReadonlyMap<string, StoredValue>
}

interface Made {
  readonly value: TraceValue
  readonly tensors: ReadonlyMap<string, Tensor>
  readonly how: string
  readonly plain: boolean
  readonly given: boolean
}

/** One trace of inputs for a model: files and values as given, the rest seeded and fitting its use. */
export async function generateInputs(
  declared: readonly ValueSpec[],
  uses: ReadonlyMap<string, InputUse>,
  options: InputOptions,
): Promise<MadeInputs> {
  const specs = withRanks(declared, options)
  const stored = await readSelfDescribing(specs, options)
  const { shapes, dims, unused } = bindInputShapes(specs, {
    given: options.dims,
    ...(options.found && { found: options.found }),
    ...(options.asked && { asked: options.asked }),
    measured: measuredDims(specs, stored, options.dims),
    emptyCaches: takesCachelessBranch(uses, options),
  })
  const making: Making = { options, uses, shapes: new Map([...shapes, ...shapesOf(stored)]), stored }
  const made = new Map<ValueSpec, Made>()
  for (const [i, spec] of specs.entries()) made.set(spec, saying(declared[i]!, spec, await makeInput(spec, making)))
  const tensors = new Map([...made.values()].flatMap((one) => [...one.tensors]))
  return {
    values: [...made.values()].map(({ value }) => value),
    tensors,
    choices: [...made].flatMap(([spec, one]) => choicesOf(spec, one)),
    dims,
    unusedDims: unused,
    unusedPolicies: Object.keys(options.policies).filter((name) => !specs.some((spec) => spec.name === name)),
  }
}

/** Axes that nobody declared are a choice too. */
function saying(declared: ValueSpec, { shape }: ValueSpec, made: Made): Made {
  if (declared.shape !== null || shape === null) return made
  return {
    ...made,
    how: `${made.how}; ${UNDECLARED}, so it has ${shape.length === 1 ? 'one axis' : `${shape.length} axes`}`,
  }
}

/** An input may well be called "constructor". */
function policyFor(name: string, { policies }: InputOptions): InputPolicy | undefined {
  return Object.hasOwn(policies, name) ? policies[name] : undefined
}

/** Files that tell their own shape are read first: open sizes that they share with other inputs are theirs. */
async function readSelfDescribing(
  specs: readonly ValueSpec[],
  options: InputOptions,
): Promise<Map<string, StoredValue>> {
  const stored = new Map<string, StoredValue>()
  for (const spec of specs) {
    const policy = policyFor(spec.name, options)
    if (!policy || !('file' in policy) || /\.bin$/i.test(policy.file)) continue
    stored.set(spec.name, await readInputFile(policy.file, spec, undefined, options.folder))
  }
  return stored
}

function measuredDims(
  specs: readonly ValueSpec[],
  stored: ReadonlyMap<string, StoredValue>,
  given: Readonly<Record<string, number>>,
): Record<string, number> {
  const measured = new Map<string, number>()
  for (const { name, shape } of specs) {
    const found = stored.get(name)?.tensors.get(name)?.shape
    shape?.forEach((dim, axis) => {
      if (typeof dim !== 'string' || dim === '' || !found) return
      const bound = Object.hasOwn(given, dim) ? given[dim] : measured.get(dim)
      if (bound !== undefined && bound !== found[axis]) throw conflict(name, dim, found[axis]!, bound)
      measured.set(dim, found[axis]!)
    })
  }
  return Object.fromEntries(measured)
}

function conflict(input: string, dim: string, found: number, bound: number): StageError {
  return new StageError(
    'inputs',
    `the file of input "${input}" has ${dim} = ${found}, but it is ${bound} elsewhere; make them agree`,
  )
}

function shapesOf(stored: ReadonlyMap<string, StoredValue>): [string, readonly number[]][] {
  return [...stored].flatMap(([name, { tensors }]) => {
    const tensor = tensors.get(name)
    return tensor ? [[name, tensor.shape]] : []
  })
}

/** Merged decoders have a switch; with it off they take empty caches. */
function takesCachelessBranch(uses: ReadonlyMap<string, InputUse>, options: InputOptions): boolean {
  return [...uses].some(([name, use]) => {
    if (use.kind !== 'condition' || !/cache|past/i.test(name)) return false
    const policy = policyFor(name, options)
    return policy === undefined ? !use.value : 'value' in policy && Number(policy.value) === 0
  })
}

function choicesOf(spec: ValueSpec, { tensors, how, plain, given }: Made): InputChoice[] {
  return [...tensors].map(([name, { dtype, shape }]) => ({ name: name || spec.name, dtype, shape, how, plain, given }))
}

async function makeInput(spec: ValueSpec, making: Making): Promise<Made> {
  const policy = policyFor(spec.name, making.options)
  const shape = making.shapes.get(spec.name)
  if (policy && 'file' in policy) {
    const { folder } = making.options
    const stored = making.stored.get(spec.name) ?? (await readInputFile(policy.file, spec, shape, folder))
    return { ...stored, how: `file ${policy.file}`, plain: false, given: true }
  }
  const tensorSpec = requireTensor(spec, shape, making.options.mostBytes ?? MAX_GENERATED_BYTES)
  const { tensor, how, given } = encoded(tensorSpec, () => makeTensor(tensorSpec, policy, making))
  const plain = policy === undefined && (making.uses.get(spec.name)?.kind ?? 'plain') === 'plain'
  const value = { name: spec.name, kind: 'tensor', length: 1 } as const
  return { value, tensors: new Map([[spec.name, tensor]]), how, plain, given }
}

function requireTensor(spec: ValueSpec, shape: readonly number[] | undefined, mostBytes: number): TensorSpec {
  if (spec.kind !== 'tensor') {
    throw new SkipCase(
      `input "${spec.name}" is a ${spec.kind}, which Assay does not generate; give it with --input ${spec.name}=file.pb`,
    )
  }
  const open = `give it with --input ${spec.name}=file.npy`
  if (!spec.dtype) throw new StageError('inputs', `input "${spec.name}" declares no dtype that Assay knows; ${open}`)
  if (!shape) throw new StageError('inputs', `input "${spec.name}" declares no shape; ${open}`)
  const byteLength = countBytes(spec.dtype, shape) ?? elementCount(shape)
  if (!(byteLength <= mostBytes)) {
    throw new StageError(
      'inputs',
      `input "${spec.name}" ${formatShape(shape)} would take ${byteLength} bytes; set smaller sizes with --dim`,
    )
  }
  return { name: spec.name, dtype: spec.dtype, shape }
}

interface Filled {
  readonly tensor: Tensor
  readonly how: string
  readonly given: boolean
}

function encoded(spec: TensorSpec, make: () => Filled): Filled {
  try {
    return make()
  } catch (cause) {
    if (!(cause instanceof FormatError)) throw cause
    throw new StageError('inputs', `input "${spec.name}": ${cause.message}`, { cause })
  }
}

function makeTensor(spec: TensorSpec, policy: InputPolicy | undefined, making: Making): Filled {
  const random = randomStream(making.options.seed, spec.name)
  if (typeof policy === 'function') return { tensor: fromFunction(spec, policy), how: 'function', given: true }
  if (policy && 'value' in policy) return { tensor: fromValue(spec, policy.value), how: 'given value', given: true }
  if (spec.dtype === 'string') return { tensor: fromWords(spec, random), how: 'seeded words', given: false }
  const { values, how } = fill(spec, policy, making, random)
  return { tensor: numbers(spec, values), how, given: false }
}

function fill(
  spec: TensorSpec,
  policy: Exclude<InputPolicy, InputFunction> | undefined,
  { uses, shapes }: Making,
  random: RandomStream,
): { values: ArrayLike<number>; how: string } {
  if (policy && 'signal' in policy) {
    const levels = policy.range ? ` ${policy.range.join('..')}` : ''
    return { values: fillSignal(spec, policy, random), how: `signal ${policy.signal}${levels}` }
  }
  if (policy && 'range' in policy) {
    const [low, high] = policy.range
    return { values: fillRange(spec, low, high, random), how: `uniform ${low}..${high}` }
  }
  const use = uses.get(spec.name)
  if (!use || use.kind === 'plain') return { values: fillPlain(spec, random), how: 'uniform' }
  const shapeOf: ShapeOf = (input) => shapes.get(input)
  return { values: fillForUse(spec, use, random, shapeOf), how: `${use.kind}: ${use.because}` }
}

function numbers({ dtype, shape }: TensorSpec, values: ArrayLike<number>): Tensor {
  return { dtype, shape, bytes: encodeNumbers(dtype, values) }
}

function fromValue(spec: TensorSpec, value: number | readonly number[]): Tensor {
  const count = elementCount(spec.shape)
  const values = typeof value === 'number' ? new Float64Array(count).fill(value) : value
  requireCount(spec, values.length)
  return numbers(spec, values)
}

function fromFunction(spec: TensorSpec, make: InputFunction): Tensor {
  const values = make(spec)
  requireCount(spec, values.length)
  const { dtype, shape } = spec
  if (dtype === 'string') return { dtype, shape, bytes: encodeStrings(Array.from(values, String)) }
  if (isBigInts(values)) return { dtype, shape, bytes: encodeBigInts(dtype, values) }
  return numbers(spec, Array.from(values, Number))
}

function isBigInts(values: ReturnType<InputFunction>): values is readonly bigint[] {
  return Array.isArray(values) && typeof values[0] === 'bigint'
}

function requireCount(spec: TensorSpec, found: number): void {
  const expected = elementCount(spec.shape) * (DTYPES[spec.dtype].kind === 'complex' ? 2 : 1)
  if (found === expected) return
  throw new StageError(
    'inputs',
    `input "${spec.name}" ${formatShape(spec.shape)} takes ${expected} values, found ${found}`,
  )
}

function fromWords({ dtype, shape }: TensorSpec, random: RandomStream): Tensor {
  const words = Array.from({ length: elementCount(shape) }, () => WORDS[random.integer(0, WORDS.length - 1)]!)
  return { dtype, shape, bytes: encodeStrings(words) }
}
