import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { explainWriteError, writeFileAtomic } from '../../files/atomic.ts'
import { digestOf } from '../../files/digest.ts'
import type { Tokenizer } from '../tokenizer/tokenizer.ts'
import type { Place, PromptSource } from './source.ts'

const VERSION = 1

/** Every prompt of a source, in its order: where it is, and how many tokens it has. */
export interface PromptIndex {
  readonly places: readonly Place[]
  readonly lengths: readonly number[]
}

interface IndexOptions {
  /** Where it is kept for later runs; absent: nowhere. */
  readonly cacheFolder?: string
  readonly onProgress?: (progress: { readonly doneBytes: number; readonly totalBytes: number }) => void
  readonly signal?: AbortSignal
}

/** Counts the tokens of all prompts once for each tokenizer and content of the source. */
export async function indexPrompts(
  source: PromptSource,
  tokenizer: Tokenizer,
  options: IndexOptions = {},
): Promise<PromptIndex> {
  const key = digestOf({ version: VERSION, source: source.digest, tokenizer: tokenizer.digest })
  const file = options.cacheFolder === undefined ? null : join(options.cacheFolder, `${key}.json`)
  const known = file === null ? null : await readIndex(file)
  if (known) return known
  const index = await countTokens(source, tokenizer, options)
  if (file !== null) await writeIndex(file, options.cacheFolder!, index)
  return index
}

async function countTokens(source: PromptSource, tokenizer: Tokenizer, options: IndexOptions): Promise<PromptIndex> {
  const [places, lengths]: [Place[], number[]] = [[], []]
  let [doneBytes, toldMs] = [0, performance.now()]
  for await (const { place, text } of source.entries()) {
    options.signal?.throwIfAborted()
    places.push(place)
    lengths.push(tokenizer.encode(text).length)
    doneBytes += place[2]
    if (performance.now() - toldMs < 200) continue
    toldMs = performance.now()
    options.onProgress?.({ doneBytes, totalBytes: source.byteLength })
    // Others get their turn, a signal among them.
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { places, lengths }
}

/** null: there is none, or it is not whole. */
async function readIndex(file: string): Promise<PromptIndex | null> {
  try {
    const { places, lengths } = JSON.parse(await readFile(file, 'utf8')) as PromptIndex
    return Array.isArray(places) && Array.isArray(lengths) && places.length === lengths.length
      ? { places, lengths }
      : null
  } catch {
    return null
  }
}

async function writeIndex(file: string, folder: string, index: PromptIndex): Promise<void> {
  try {
    await mkdir(folder, { recursive: true })
  } catch (error) {
    throw explainWriteError(error, folder)
  }
  await writeFileAtomic(file, JSON.stringify(index))
}
