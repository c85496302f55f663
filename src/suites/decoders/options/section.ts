import type { FileValues } from '../../../options/in-file.ts'
import type { DECODER_OPTIONS } from './options.ts'

/** Text-generation models, and the options of `assay decoders` that are not those of every command. */
export interface DecoderSettings extends FileValues<typeof DECODER_OPTIONS> {
  /** Folders or ids of a hub. */
  readonly models?: readonly string[]
}

export interface DecoderSections {
  readonly decoders?: DecoderSettings
}
