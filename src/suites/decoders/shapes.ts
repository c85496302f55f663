import { UsageError } from '../../domain/errors.ts'
import type { DecoderShape } from '../../models/prompts/decoder-shapes.ts'

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
