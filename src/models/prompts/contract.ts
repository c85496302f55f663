/** A prompt as a model gets it. */
export interface Prompt {
  readonly text: string
  readonly ids: readonly number[]
  /** Over the ids: equal prompts have equal digests, whatever they were read from. */
  readonly digest: string
}

/** Prompts of one length: the mask is 1 for tokens of the prompt and 0 for padding before them. */
export interface PaddedBatch {
  readonly ids: number[][]
  readonly mask: number[][]
  readonly positions: number[][]
}
