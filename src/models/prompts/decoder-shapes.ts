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
