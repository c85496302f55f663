import type { DType } from '../../domain/dtype.ts'
import { StageError } from '../../domain/errors.ts'
import { formatShape, type ValueSpec } from '../../domain/tensor.ts'
import type { CachePort } from './ports.ts'

export interface PairedCaches {
  readonly caches: readonly CachePort[]
  /** Inputs that are no cache. */
  readonly rest: readonly ValueSpec[]
}

/** Finds for every cache input the output that feeds it in the next step. */
export function pairCaches(inputs: readonly ValueSpec[], outputs: readonly ValueSpec[]): PairedCaches {
  const rest: ValueSpec[] = []
  const caches: CachePort[] = []
  const taken = new Set<string>()
  for (const input of inputs) {
    const [output, second] = outputs.filter((candidate) => continues(input, candidate))
    if (!output || second || taken.has(output.name)) rest.push(input)
    else caches.push(cachePort(input, output))
    if (output) taken.add(output.name)
  }
  return { caches, rest }
}

/** Words that only tell inputs of a step from its outputs. */
const SIDES = new Set(
  'past present in out input output old new next prev previous updated cache cached state'.split(' '),
)

/** `past_key_values.3.key` and `present.3.key` are both `3 key`. */
function partOf(name: string): string {
  const words = name.replace(/(past|present)_key_values?/gi, '').split(/[^a-z0-9]+|(?<=[a-z])(?=[0-9])/i)
  return words.filter((word) => word && !SIDES.has(word.toLowerCase())).join(' ')
}

/** An encoder's output is not a cache that begins empty. */
export function isEncoded(name: string): boolean {
  return /(^|[^a-z])(encoder|cross)/i.test(name)
}

function continues(input: ValueSpec, output: ValueSpec): boolean {
  const isTensor = input.kind === 'tensor' && output.kind === 'tensor'
  const isCache = isTensor && (input.shape?.length ?? 0) >= 3 && !isEncoded(input.name)
  return isCache && partOf(input.name) === partOf(output.name) && fits(input, output)
}

function fits({ dtype, shape }: ValueSpec, output: ValueSpec): boolean {
  if (dtype !== output.dtype) return false
  if (!shape || !output.shape) return true
  const isSame = (dim: unknown, i: number) =>
    typeof dim !== 'number' || typeof output.shape![i] !== 'number' || dim === output.shape![i]
  return shape.length === output.shape.length && shape.every(isSame)
}

function cachePort(input: ValueSpec, output: ValueSpec): CachePort {
  const shape = input.shape ?? []
  const axes = openAxes(input)
  return {
    past: input.name,
    present: output.name,
    dtype: input.dtype as DType,
    emptyShape: (batch) => shape.map((dim, i) => (typeof dim === 'number' ? dim : i === axes.batch ? batch : 0)),
  }
}

/** One open size counts sequences and the other counts positions. */
function openAxes({ name, shape }: ValueSpec): { readonly batch: number; readonly length: number } {
  const open = (shape ?? []).flatMap((dim, axis) => (typeof dim === 'number' ? [] : [{ dim: dim ?? '', axis }]))
  const isPlain = open.every(({ dim }) => !/[*+/]| x /.test(dim.replace(/past\w* *\+ *\w+/, '')))
  const [first, second] = open
  if (isPlain && open.length === 1 && !/batch/i.test(first!.dim)) return { batch: -1, length: first!.axis }
  if (isPlain && open.length === 2) {
    const isTurned = /batch/i.test(second!.dim) && !/batch/i.test(first!.dim)
    return isTurned ? { batch: second!.axis, length: first!.axis } : { batch: first!.axis, length: second!.axis }
  }
  const found = `input "${name}" has shape ${formatShape(shape ?? [])}`
  throw new StageError(
    'run',
    `${found}, expected a cache in which only the number of sequences and that of positions are open; export the model with fixed heads and a cache that grows`,
  )
}
