import { FileDigests } from '../../files/disk/digest.ts'
import type { Tokenizer } from '../hugging-face/tokenizer/tokenizer.ts'
import { bundledSource } from './bundled.ts'
import { indexPrompts } from './prompt-index.ts'
import { PromptSet } from './prompt-set.ts'
import { openSource } from './source.ts'

interface OpenPromptsOptions {
  /** Where token counts are kept for later runs; absent: nowhere. */
  readonly cacheFolder?: string
  readonly digests?: FileDigests
  readonly onProgress?: (progress: { readonly doneBytes: number; readonly totalBytes: number }) => void
  readonly signal?: AbortSignal
}

/** Prompts of a file or folder, or those that come with Assay where none is given. */
export async function openPrompts(
  path: string | null,
  tokenizer: Tokenizer,
  options: OpenPromptsOptions = {},
): Promise<PromptSet> {
  const source = path === null ? bundledSource() : await openSource(path, options.digests ?? new FileDigests())
  return new PromptSet(source, tokenizer, await indexPrompts(source, tokenizer, options))
}
