import type { FileValues } from '../../options/in-file.ts'
import type { LAYER_OPTIONS } from './options.ts'

/** What a configuration says for `assay layers`. */
export interface LayerSections {
  readonly layers?: FileValues<typeof LAYER_OPTIONS>
}
