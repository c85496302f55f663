import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { explainWriteError, writeFileAtomic } from '../../files/disk/atomic.ts'
import { computeDigest } from '../../files/disk/digest.ts'
import { readText } from '../../files/disk/regular-file.ts'
import type { Tokenizer } from '../hugging-face/tokenizer/tokenizer.ts'
import type { PromptSource, SourceEntry, TextPlace } from './source.ts'

const VERSION = 1

/** Every prompt of a source, in its order: where it is, and how many tokens it has. */
export interface PromptIndex {
  readonly places: readonly TextPlace[]
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
  const key = computeDigest({ version: VERSION, source: source.digest, tokenizer: tokenizer.digest })
  const file = options.cacheFolder === undefined ? null : join(options.cacheFolder, `${key}.json`)
  const known = file === null ? null : await readIndex(file)
  if (known) return known
  const index = await countTokens(source, tokenizer, options)
  if (file !== null) await writeIndex(file, options.cacheFolder!, index)
  return index
}

async function countTokens(source: PromptSource, tokenizer: Tokenizer, options: IndexOptions): Promise<PromptIndex> {
  const [places, lengths]: [TextPlace[], number[]] = [[], []]
  let [doneBytes, toldMs] = [0, performance.now()]
  for await (const entries of inBatches(source)) {
    options.signal?.throwIfAborted()
    for (const { place } of entries) {
      places.push(place)
      doneBytes += place[2]
    }
    lengths.push(...(await tokenizer.count(entries.map(({ text }) => text))))
    if (performance.now() - toldMs < 200) continue
    toldMs = performance.now()
    options.onProgress?.({ doneBytes, totalBytes: source.byteLength })
  }
  return { places, lengths }
}

const MOST_ENTRIES = 256
const MOST_CHARACTERS = 2 ** 16

/** Batches, because a request for every single prompt would take as long as counting its tokens. */
async function* inBatches(source: PromptSource): AsyncGenerator<SourceEntry[]> {
  let [entries, length]: [SourceEntry[], number] = [[], 0]
  for await (const entry of source.entries()) {
    entries.push(entry)
    length += entry.text.length
    if (entries.length < MOST_ENTRIES && length < MOST_CHARACTERS) continue
    yield entries
    ;[entries, length] = [[], 0]
  }
  if (entries.length > 0) yield entries
}

/** null: there is none, or it is not whole. */
async function readIndex(file: string): Promise<PromptIndex | null> {
  try {
    const { places, lengths } = JSON.parse(await readText(file)) as PromptIndex
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
