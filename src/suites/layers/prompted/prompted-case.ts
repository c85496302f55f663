import type { FoundDecoder } from '../../../models/hugging-face/find-decoder.ts'
import type { DecoderShape } from '../../../models/prompts/decoder-shapes.ts'
import type { LayersCase } from '../suite.ts'

/** A decoder that is given prompts. */
export interface Prompted {
  readonly decoder: FoundDecoder
  readonly shape: DecoderShape
}

export type PromptedCase = LayersCase & { readonly prompted: Prompted }

export function isPrompted(c: LayersCase): c is PromptedCase {
  return typeof c.prompted !== 'string'
}
