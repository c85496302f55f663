import { UsageError } from '../../domain/errors.ts'
import { remember } from '../../domain/remember.ts'
import { computeDigest } from '../../files/disk/digest.ts'
import type { Tokenizer } from '../hugging-face/tokenizer/tokenizer.ts'
import type { Prompt } from './contract.ts'
import type { PromptIndex } from './prompt-index.ts'
import { boundLengths, shuffledInRange } from './sample.ts'
import { type Shaped, shapePrompts } from './shape.ts'
import type { PromptSource } from './source.ts'

export interface DrawRequest {
  /** S: prompts have half of it to all of it as tokens, and are padded to it. */
  readonly promptLength: number
  readonly batchSize: number
  readonly seed: number
  /** Which draw of this seed, from 0. */
  readonly draw: number
  /** Conversations only: fewer prompts than asked for are taken where no more fit. */
  readonly allowFewer?: boolean
}

/** Prompts of one batch, and how they came to their length. */
export interface Draw {
  readonly prompts: readonly Prompt[]
  readonly cut: number
  readonly joined: number
  /** How many of the source have the length as they are. */
  readonly fitting: number
}

/** Prompts of a source, to be drawn by length. */
export class PromptSet {
  readonly source: PromptSource
  readonly tokenizer: Tokenizer
  readonly #index: PromptIndex
  readonly #shaped = new Map<string, ShapedList>()

  constructor(source: PromptSource, tokenizer: Tokenizer, index: PromptIndex) {
    this.source = source
    this.tokenizer = tokenizer
    this.#index = index
    if (index.lengths.every((length) => length === 0)) throw noPrompts(source)
  }

  async draw(request: DrawRequest): Promise<Draw> {
    checkCount('prompt length', request.promptLength)
    checkCount('batch size', request.batchSize)
    return this.source.isConversations ? this.#drawConversations(request) : this.#drawShaped(request)
  }

  /** The documented rule: every draw shuffles anew, with a seed of its own. */
  async #drawConversations(request: DrawRequest): Promise<Draw> {
    const { promptLength, batchSize, seed, draw } = request
    const [least, most] = boundLengths(promptLength)
    const inRange = shuffledInRange(this.#index.lengths, least, most, seed + draw)
    if (inRange.length < batchSize) this.#refuseFew(request, inRange.length)
    const prompts: Prompt[] = []
    for (const number of inRange.slice(0, batchSize)) prompts.push(await this.#prompt(number))
    return { prompts, cut: 0, joined: 0, fitting: inRange.length }
  }

  #refuseFew({ promptLength, batchSize, allowFewer }: DrawRequest, fitting: number): void {
    if (fitting > 0 && allowFewer) return
    const { lengths } = this.#index
    const found = `${fitting === 0 ? 'none' : fitting} of the ${lengths.length} prompts of ${this.source.name} fit`
    const range = `a prompt length of ${promptLength} (${boundLengths(promptLength).join(' to ')} tokens)`
    const advice = fitting === 0 ? `they have ${spanOf(lengths)} tokens` : `use a batch size of ${fitting} or less`
    throw new UsageError('prompts', `${found} ${range}, ${batchSize} are needed; ${advice}, or give other prompts`)
  }

  /** Every other source is shuffled once for a seed, and draws follow each other in it. */
  async #drawShaped({ promptLength, batchSize, seed, draw }: DrawRequest): Promise<Draw> {
    const list = this.#listOf(promptLength, seed)
    const taken = await list.slice(draw * batchSize, batchSize)
    return {
      prompts: taken.map(({ prompt }) => prompt),
      cut: taken.filter(({ shape }) => shape === 'cut').length,
      joined: taken.filter(({ shape }) => shape === 'joined').length,
      fitting: shuffledInRange(this.#index.lengths, ...boundLengths(promptLength), seed).length,
    }
  }

  #listOf(promptLength: number, seed: number): ShapedList {
    const key = `${promptLength} ${seed}`
    return remember(this.#shaped, key, () => new ShapedList(this.#shapes(promptLength, seed)))
  }

  #shapes(promptLength: number, seed: number): AsyncGenerator<Shaped> {
    const { lengths, places } = this.#index
    const read = (number: number) => this.source.read(places[number]!)
    return shapePrompts({ lengths, read, tokenizer: this.tokenizer, promptLength, seed })
  }

  async #prompt(number: number): Promise<Prompt> {
    const text = await this.source.read(this.#index.places[number]!)
    const ids = await this.tokenizer.encode(text)
    return { text, ids, digest: computeDigest(ids) }
  }
}

/** Shaped prompts as far as they were asked for. */
class ShapedList {
  readonly #shapes: AsyncGenerator<Shaped>
  readonly #made: Shaped[] = []

  constructor(shapes: AsyncGenerator<Shaped>) {
    this.#shapes = shapes
  }

  async slice(start: number, count: number): Promise<Shaped[]> {
    while (this.#made.length < start + count) {
      const next = await this.#shapes.next()
      if (next.done) throw new Error('prompts are never used up; this is a bug in Assay')
      this.#made.push(next.value)
    }
    return this.#made.slice(start, start + count)
  }
}

function checkCount(what: string, value: number): void {
  if (Number.isSafeInteger(value) && value >= 1) return
  throw new UsageError('prompts', `a ${what} of ${value}, expected a whole number from 1 up`)
}

function spanOf(lengths: readonly number[]): string {
  const [least, most] = lengths.reduce(([a, b], length) => [Math.min(a, length), Math.max(b, length)], [Infinity, 0])
  return least === most ? String(least) : `${least} to ${most}`
}

function noPrompts(source: PromptSource): UsageError {
  const found = source.isConversations ? 'no conversation of two turns or more' : 'no prompt'
  return new UsageError('prompts', `${source.name} holds ${found} with any tokens; give prompts`)
}
