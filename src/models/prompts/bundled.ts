import { computeDigest } from '../../files/disk/digest.ts'
import { BUNDLED_PROMPTS } from './bundled-prompts.ts'
import type { PromptSource } from './source.ts'

/** Prompts that come with Assay, for runs that are given none. */
export function bundledSource(): PromptSource {
  return {
    name: 'the bundled set',
    digest: computeDigest(BUNDLED_PROMPTS),
    isConversations: false,
    byteLength: BUNDLED_PROMPTS.length,
    async *entries() {
      for (const [number, text] of BUNDLED_PROMPTS.entries()) yield { place: [number, 0, 0], text }
    },
    read: async ([number]) => BUNDLED_PROMPTS[number]!,
  }
}
