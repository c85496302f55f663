import { UsageError } from '../../domain/errors.ts'

/** What is decoded at once, and how far. */
export interface DecoderShape {
  readonly batchSize: number
  /** Prompts are padded to so many tokens. */
  readonly promptLength: number
  readonly newTokens: number
}

export interface ShapeLists {
  readonly batchSizes: readonly number[]
  readonly promptLengths: readonly number[]
  readonly newTokens: readonly number[]
}

/** All combinations, in the order in which the lists nest. */
export function combineShapes({ batchSizes, promptLengths, newTokens }: ShapeLists): DecoderShape[] {
  return batchSizes.flatMap((batchSize) =>
    promptLengths.flatMap((promptLength) => newTokens.map((count) => ({ batchSize, promptLength, newTokens: count }))),
  )
}

export function nameScope({ batchSize, promptLength, newTokens }: DecoderShape): string {
  return `b${batchSize}/s${promptLength}/n${newTokens}`
}

/** As pytest would write the case of this model. */
export function documentedId(model: string, { batchSize, promptLength, newTokens }: DecoderShape): string {
  return `test_common_shapes[${model}-${batchSize}-${promptLength}-${newTokens}]`
}

/** So many batches of other prompts fit into the tokens that a sequence may have in all. */
function batchesOf({ newTokens }: DecoderShape, tokensPerSequence: number): number {
  return Math.floor(tokensPerSequence / newTokens)
}

/** Nothing decoded is nothing judged. */
export function countedBatches(shape: DecoderShape, tokensPerSequence: number): number {
  const batches = batchesOf(shape, tokensPerSequence)
  if (batches > 0) return batches
  throw new UsageError(
    'shape',
    `--max-new-tokens ${shape.newTokens} is more than --tokens-per-sequence ${tokensPerSequence}, so no batch fits; raise the second`,
  )
}
