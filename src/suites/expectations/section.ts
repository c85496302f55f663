import type { FileValues } from '../../options/in-file.ts'
import type { EXPECTATION_OPTIONS } from './options.ts'

/** Models that have snapshots, and where those are. */
interface ExpectationSettings extends FileValues<typeof EXPECTATION_OPTIONS> {
  /** Folders or ids of models that give logits alone. */
  readonly decoder_models?: readonly string[]
  /** Folders or ids of models that give several outputs. */
  readonly tuple_output_models?: readonly string[]
}

export interface ExpectationSections {
  readonly expectations?: ExpectationSettings
}
