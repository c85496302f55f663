import type { DecodeRequest, SequenceStep } from '../contract.ts'
import { countedPositions, type PromptRows } from './prompt.ts'

/** The inputs of a step, (batch, length) each; the mask also covers cached positions. */
export interface Fed {
  readonly ids: PromptRows
  readonly mask: PromptRows
  readonly positions: PromptRows
}

/** The sequences of a batch during decoding. */
export class Course {
  readonly #isCached: boolean
  readonly #ended: boolean[]
  #fed: Fed

  constructor({ ids, mask, positions }: DecodeRequest, isCached: boolean) {
    this.#isCached = isCached
    this.#ended = ids.map(() => false)
    this.#fed = { ids, mask, positions: positions ?? countedPositions(mask) }
  }

  get fed(): Fed {
    return this.#fed
  }

  get isOver(): boolean {
    return this.#ended.every(Boolean)
  }

  hasEnded(sequence: number): boolean {
    return this.#ended[sequence] === true
  }

  /** Ended sequences repeat their last token, which is ignored. */
  append(sequences: readonly (SequenceStep | null)[]): void {
    const { ids, mask, positions } = this.#fed
    const tokens = sequences.map((sequence, i) => [sequence?.token ?? ids[i]!.at(-1)!])
    const places = positions.map((row) => [row.at(-1)! + 1])
    sequences.forEach((sequence, i) => {
      if (sequence?.ended) this.#ended[i] = true
    })
    const joined = (before: PromptRows, after: PromptRows): PromptRows => before.map((row, i) => [...row, ...after[i]!])
    const longerMask = joined(
      mask,
      mask.map(() => [1]),
    )
    this.#fed = this.#isCached
      ? { ids: tokens, mask: longerMask, positions: places }
      : { ids: joined(ids, tokens), mask: longerMask, positions: joined(positions, places) }
  }
}
