import { StageError } from '../../domain/errors.ts'
import type { TextSizes } from '../hugging-face/text-sizes.ts'

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

/** Some runtimes give numbers beyond the last position that a model was trained with, and some crash. */
export function refusePositions(
  { positions }: Pick<TextSizes, 'positions'>,
  { promptLength, newTokens }: DecoderShape,
): void {
  if (positions === null || promptLength + newTokens <= positions) return
  throw new StageError(
    'inputs',
    `${promptLength} tokens of the prompt and ${newTokens} new ones are more than the ${positions} positions that the model knows; lower --prompt-length or --max-new-tokens`,
  )
}
