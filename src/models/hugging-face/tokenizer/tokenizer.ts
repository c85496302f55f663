import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { FormatError } from '../../../domain/errors.ts'
import { builtFile } from '../../../files/disk/own-files.ts'
import type { StoredText, TokenizerFiles } from './make-coder.ts'
import type { DecodeOptions } from './token-coder.ts'

export type CoderOrder =
  | { readonly kind: 'start' }
  | { readonly kind: 'encode'; readonly text: string }
  | { readonly kind: 'count'; readonly texts: readonly string[] }
  | { readonly kind: 'decode'; readonly ids: readonly number[]; readonly options: DecodeOptions }
  | { readonly kind: 'pieces' | 'piece'; readonly ids: readonly number[] }
  | { readonly kind: 'id'; readonly token: string }

export type CoderAnswer = { readonly found: unknown } | { readonly refused: string } | { readonly error: unknown }

/** Plus 0.1 ms per character; healthy tokenizers take less than a thousandth of that. */
const LEAST_MS = 5000
const MS_BY_CHARACTER = 0.1
const START_MS = 20_000
const START_MS_BY_CHARACTER = 0.001
const MOST_MEMORY_MB = 2048

/** Text to token ids and back, as a model's folder says. Its patterns may never end, so they run in a thread that can be. */
export class Tokenizer {
  /** Of all that decides which ids a text has. */
  readonly digest: string
  readonly #file: string
  readonly #thread: Worker
  #last: Promise<unknown> = Promise.resolve()
  #broken: FormatError | null = null

  private constructor(files: TokenizerFiles, digest: string) {
    this.digest = digest
    this.#file = files.definition.file
    this.#thread = startThread(files)
  }

  static async start(files: TokenizerFiles, digest: string): Promise<Tokenizer> {
    const tokenizer = new Tokenizer(files, digest)
    const limitMs = START_MS + START_MS_BY_CHARACTER * lengthOf(files)
    await tokenizer.#ask({ kind: 'start' }, limitMs, 'while being read').catch(async (error) => {
      await tokenizer.#thread.terminate()
      throw error
    })
    return tokenizer
  }

  /** With the special tokens that the folder asks for. */
  encode(text: string): Promise<number[]> {
    return this.#ask({ kind: 'encode', text }, limitFor(text.length), `for a text of ${text.length} characters`)
  }

  /** How many tokens each text has. */
  count(texts: readonly string[]): Promise<number[]> {
    const length = texts.reduce((sum, text) => sum + text.length, 0)
    return this.#ask({ kind: 'count', texts }, limitFor(length), `for texts of ${length} characters`)
  }

  /** Bytes that are no valid UTF-8 become U+FFFD, ids that the vocabulary lacks `<id 5000>`. */
  decode(ids: readonly number[], options: DecodeOptions = { special: true }): Promise<string> {
    return this.#askFor({ kind: 'decode', ids, options }, ids)
  }

  /** What each id adds to the text; a character of several tokens is given by the last of them. */
  pieces(ids: readonly number[]): Promise<string[]> {
    return this.#askFor({ kind: 'pieces', ids }, ids)
  }

  /** Each token by itself; bytes that are no character alone as `<0xE2>`. */
  eachPiece(ids: readonly number[]): Promise<string[]> {
    return this.#askFor({ kind: 'piece', ids }, ids)
  }

  /** null: no token is written so. */
  idOf(token: string): Promise<number | null> {
    return this.#ask({ kind: 'id', token }, LEAST_MS, 'for a token')
  }

  #askFor<T>(order: CoderOrder, ids: readonly number[]): Promise<T> {
    return this.#ask(order, limitFor(ids.length), `for ${ids.length} tokens`)
  }

  /** One after another, so that each has its own time. */
  #ask<T>(order: CoderOrder, limitMs: number, what: string): Promise<T> {
    const answer = this.#last.then(() => this.#answerTo(order, limitMs, what))
    this.#last = answer.catch(() => {})
    return answer as Promise<T>
  }

  async #answerTo(order: CoderOrder, limitMs: number, what: string): Promise<unknown> {
    if (this.#broken) throw this.#broken
    this.#thread.ref()
    try {
      this.#thread.postMessage(order)
      return await this.#answer(limitMs, what)
    } finally {
      this.#thread.unref()
    }
  }

  async #answer(limitMs: number, what: string): Promise<unknown> {
    const waiting = new AbortController()
    const { signal } = waiting
    try {
      const answer = await Promise.race([
        once(this.#thread, 'message', { signal }).then(([message]) => message as CoderAnswer),
        once(this.#thread, 'exit', { signal }).then(() => null),
        afterMs(limitMs, signal),
      ])
      if (answer === null) throw await this.#give(`used all of ${MOST_MEMORY_MB} MB ${what}`)
      if (answer === 'late') throw await this.#give(`took more than ${Math.round(limitMs / 1000)} s ${what}`)
      if ('refused' in answer) throw new FormatError('tokenizer', answer.refused)
      if ('error' in answer) throw answer.error
      return answer.found
    } catch (error) {
      if (isOutOfMemory(error)) throw await this.#give(`used all of ${MOST_MEMORY_MB} MB ${what}`)
      throw error
    } finally {
      waiting.abort()
    }
  }

  async #give(found: string): Promise<FormatError> {
    const advice = 'check its patterns, or copy it again from where the model was published'
    this.#broken = new FormatError('tokenizer', `the tokenizer ${this.#file} ${found}; ${advice}`)
    await this.#thread.terminate()
    return this.#broken
  }
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'
}

function limitFor(length: number): number {
  return LEAST_MS + MS_BY_CHARACTER * length
}

function lengthOf({ definition, settings }: Record<keyof TokenizerFiles, StoredText>): number {
  return definition.text.length + settings.text.length
}

async function afterMs(limitMs: number, signal: AbortSignal): Promise<'late'> {
  await setTimeout(limitMs, undefined, { signal })
  return 'late'
}

function startThread(files: TokenizerFiles): Worker {
  const resourceLimits = { maxOldGenerationSizeMb: MOST_MEMORY_MB }
  const thread = new Worker(builtFile('models/hugging-face/tokenizer/tokenizer-thread.js'), {
    workerData: files,
    resourceLimits,
  })
  // Those waiting for an answer are told.
  thread.on('error', () => {})
  thread.unref()
  return thread
}
