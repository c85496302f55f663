import type { DType } from '../../domain/dtype.ts'
import { StageError } from '../../domain/errors.ts'
import type { Tensor, Trace, ValueSpec } from '../../domain/tensor.ts'
import { computeDigest } from '../../files/disk/digest.ts'
import { memoryTrace } from '../../files/formats/memory-trace.ts'
import { encodeNumbers } from '../../tensors/encode.ts'

/** The documented inputs: the same in every run and for every model. */
export const LENGTH = 64
const [FIRST_ID, LAST_ID] = [5, 64]
export const PADDING = LENGTH - (LAST_ID - FIRST_ID + 1)
const SMALLEST_VOCABULARY = LAST_ID + 1

export const INPUTS_IN_WORDS = `token ids ${FIRST_ID} to ${LAST_ID}, padded with 0 on the left to ${LENGTH}`

export interface FixedInputs {
  readonly trace: Trace
  readonly digest: string
}

const places = Array.from({ length: LENGTH }, (_, i) => i - PADDING)
const IDS = places.map((place) => (place < 0 ? 0 : FIRST_ID + place))
const MASK = places.map((place) => (place < 0 ? 0 : 1))
const POSITIONS = places.map((place) => Math.max(0, place))

/** Given to every model that takes them; it may guess a mask that it is not given. */
const OPTIONAL = ['attention_mask', 'position_ids']

/** What a model takes of them; a decoder is told its positions, another model counts them itself. */
export function fixedInputs(specs: readonly ValueSpec[], isDecoder: boolean, vocabulary: number | null): FixedInputs {
  if (vocabulary !== null && vocabulary < SMALLEST_VOCABULARY) {
    const needed = `the fixed token ids go up to ${LAST_ID}`
    throw new StageError('inputs', `the vocabulary of this model has ${vocabulary} tokens, but ${needed}`)
  }
  const known: Readonly<Record<string, readonly number[]>> = {
    input_ids: IDS,
    attention_mask: MASK,
    ...(isDecoder && { position_ids: POSITIONS }),
    decoder_input_ids: IDS,
  }
  const given = specs.filter(({ name, optional }) => !optional || (OPTIONAL.includes(name) && known[name]))
  const foreign = given.find(({ name }) => !known[name])
  if (foreign || !given.some(({ name }) => name === 'input_ids')) {
    const what = foreign ? `it takes ${foreign.name}` : 'it takes no input_ids'
    throw new StageError('inputs', `the fixed inputs are token ids, and this model is another one: ${what}`)
  }
  const tensors = new Map(given.map(({ name, dtype }) => [name, tensorOf(known[name]!, dtype ?? 'int64')]))
  const content = [...tensors].map(([name, { dtype, bytes }]) => [name, dtype, bytes])
  return { trace: memoryTrace(tensors), digest: computeDigest(content) }
}

function tensorOf(values: readonly number[], dtype: DType): Tensor {
  return { dtype, shape: [1, LENGTH], bytes: encodeNumbers(dtype, values) }
}
