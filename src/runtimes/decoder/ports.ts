import type { DType } from '../../domain/dtype.ts'
import { StageError } from '../../domain/errors.ts'
import { formatShape, type ValueSpec } from '../../domain/tensor.ts'
import { isEncoded, pairCaches } from './pair-caches.ts'

/** What the inputs and outputs of an exported decoder are for. */
export interface DecoderPorts {
  readonly ids: Port
  /** null: the model takes no mask, so padding is not allowed. */
  readonly mask: Port | null
  /** null: the model counts positions itself. */
  readonly positions: Port | null
  /** In merged models, says whether the cache holds anything. */
  readonly branch: Port | null
  /** The number of positions that need logits. */
  readonly keep: Port | null
  /** Empty: the whole sequence goes in again at every step. */
  readonly caches: readonly CachePort[]
  readonly logits: string
  /** null: known once logits came. */
  readonly vocabulary: number | null
}

export interface Port {
  readonly name: string
  readonly dtype: DType
  readonly rank: number
}

/** A tensor that one step gives and the next one takes. */
export interface CachePort {
  readonly past: string
  readonly present: string
  readonly dtype: DType
  /** Of what is cached before the first step. */
  emptyShape(batch: number): number[]
}

const WHOLE: readonly DType[] = ['int64', 'int32']
const KEEP_NAMES = ['num_logits_to_keep', 'logits_to_keep']

export function decoderPorts(inputs: readonly ValueSpec[], outputs: readonly ValueSpec[]): DecoderPorts {
  refuseUntold(inputs)
  const logits = logitsOf(outputs)
  const taken = new Map(inputs.map((spec) => [spec.name, spec]))
  const take = (names: readonly string[], dtypes: readonly DType[], ranks: readonly number[]): Port | null => {
    const spec = names.map((name) => taken.get(name)).find((found) => found !== undefined)
    if (!spec) return null
    taken.delete(spec.name)
    return portOf(spec, dtypes, ranks)
  }
  const ids = take(['input_ids'], WHOLE, [2])
  if (!ids) throw wrong(`the model has no input "input_ids"; it takes ${listed(inputs)}`)
  const ports = {
    ids,
    mask: take(['attention_mask'], [...WHOLE, 'float32', 'bool'], [2]),
    positions: take(['position_ids'], WHOLE, [2]),
    branch: take(['use_cache_branch'], ['bool'], [0, 1]),
    keep: take(KEEP_NAMES, WHOLE, [0, 1]),
  }
  const { caches, rest } = pairCaches(
    [...taken.values()],
    outputs.filter(({ name }) => name !== logits.name),
  )
  if (rest.length > 0) throw unfilled(rest, outputs)
  const width = logits.shape?.at(-1)
  return { ...ports, caches, logits: logits.name, vocabulary: typeof width === 'number' ? width : null }
}

/** onnxruntime's JavaScript builds before 1.21 and WebGL tell only names. */
function refuseUntold(inputs: readonly ValueSpec[]): void {
  const untold = inputs.find(({ kind, dtype, shape }) => kind === 'tensor' && (dtype === null || shape === null))
  if (!untold) return
  throw wrong(
    `the runtime does not say what input "${untold.name}" takes, so the model cannot be decoded; onnxruntime says it from 1.21 on`,
  )
}

function logitsOf(outputs: readonly ValueSpec[]): ValueSpec {
  const named = outputs.filter(({ name }) => name === 'logits')
  const [found, second] = named.length > 0 ? named : outputs.filter(({ name }) => /logits$/.test(name))
  if (found && !second) return found
  throw wrong(`${found ? 'several outputs could be' : 'no output is'} the logits; the model gives ${listed(outputs)}`)
}

function portOf(spec: ValueSpec, dtypes: readonly DType[], ranks: readonly number[]): Port {
  const { name, dtype, shape } = spec
  if (dtype && shape && dtypes.includes(dtype) && ranks.includes(shape.length)) {
    return { name, dtype, rank: shape.length }
  }
  const expected = `${dtypes.join(' or ')} with ${ranks.join(' or ')} dimensions`
  throw wrong(`input "${name}" is ${described(spec)}, expected ${expected}`)
}

function unfilled(rest: readonly ValueSpec[], outputs: readonly ValueSpec[]): StageError {
  if (rest.some(({ name }) => isEncoded(name))) {
    return wrong(
      `the model goes on from what an encoder made (${listed(rest)}); only models that are a decoder alone can be decoded step by step`,
    )
  }
  const names = rest.map((spec) => `"${spec.name}" ${described(spec)}`).join(', ')
  return wrong(
    `the model cannot be decoded: nothing is known to fill ${names} with, and no output fits as what is cached for it; the model gives ${listed(outputs)}`,
  )
}

function described({ kind, dtype, shape }: ValueSpec): string {
  return kind === 'tensor' ? `${dtype ?? 'unknown'} ${shape ? formatShape(shape) : ''}`.trim() : `a ${kind}`
}

/** There may be hundreds. */
const MOST_LISTED = 6

function listed(specs: readonly ValueSpec[]): string {
  const names = specs.slice(0, MOST_LISTED).map(({ name }) => `"${name}"`)
  const more = specs.length > MOST_LISTED ? ` and ${specs.length - MOST_LISTED} more` : ''
  return `${names.join(', ') || 'nothing'}${more}`
}

function wrong(message: string): StageError {
  return new StageError('run', message)
}
