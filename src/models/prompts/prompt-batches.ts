import { remember } from '../../domain/remember.ts'
import type { FileDigests } from '../../files/disk/digest.ts'
import type { Tokenizer } from '../hugging-face/tokenizer/tokenizer.ts'
import type { PaddedBatch, Prompt } from './contract.ts'
import type { DecoderShape } from './decoder-shapes.ts'
import { describeShaping } from './describe-shaping.ts'
import { openPrompts } from './open-prompts.ts'
import { padLeft } from './pad.ts'
import type { Draw, PromptSet } from './prompt-set.ts'

type PromptShape = Pick<DecoderShape, 'batchSize' | 'promptLength'>

/** Prompts that are decoded at once. */
export interface PromptBatch {
  readonly prompts: readonly Prompt[]
  readonly padded: PaddedBatch
}

/** What prompts become tokens with. */
interface PromptedModel {
  readonly tokenizer: Tokenizer
}

interface PromptBatchesOptions {
  /** null: those that come with Assay. */
  readonly path: string | null
  readonly seed: number
  /** Where token counts are kept for later runs. */
  readonly cacheFolder: string
  readonly digests: FileDigests
}

/** Gives every batch its prompts: the same ones to everybody who asks for the same batch. */
export class PromptBatches {
  readonly source: string
  readonly #options: PromptBatchesOptions
  readonly #sets = new Map<string, Promise<PromptSet>>()
  readonly #draws = new Map<string, Promise<Draw>>()

  constructor(options: PromptBatchesOptions) {
    this.#options = options
    this.source = options.path ?? 'bundled prompts'
  }

  async batch(model: PromptedModel, shape: PromptShape, index: number): Promise<PromptBatch> {
    const { prompts } = await this.#draw(model, shape, index)
    return {
      prompts,
      padded: padLeft(
        prompts.map(({ ids }) => ids),
        shape.promptLength,
      ),
    }
  }

  /** What was done to prompts of the source to bring them to their length; null: nothing. */
  async shaping(model: PromptedModel, shape: PromptShape, batches: number): Promise<string | null> {
    const draws = await Promise.all(Array.from({ length: batches }, (_, index) => this.#draw(model, shape, index)))
    return describeShaping(draws, this.source, shape.promptLength)
  }

  #draw(model: PromptedModel, { batchSize, promptLength }: PromptShape, index: number): Promise<Draw> {
    const key = JSON.stringify([model.tokenizer.digest, batchSize, promptLength, index])
    const request = { promptLength, batchSize, seed: this.#options.seed, draw: index }
    return remember(this.#draws, key, async () => (await this.#set(model)).draw(request))
  }

  #set({ tokenizer }: PromptedModel): Promise<PromptSet> {
    const { path, cacheFolder, digests } = this.#options
    return remember(this.#sets, tokenizer.digest, () => openPrompts(path, tokenizer, { cacheFolder, digests }))
  }
}
