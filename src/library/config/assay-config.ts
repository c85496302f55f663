import type { FileValues } from '../../options/in-file.ts'
import type { ConvergenceSections } from '../../suites/convergence/options/section.ts'
import type { DecoderSections } from '../../suites/decoders/options/section.ts'
import type { ExpectationSections } from '../../suites/expectations/section.ts'
import type { LayerSections } from '../../suites/layers/section.ts'
import type { TEST_OPTIONS } from '../../suites/onnx/options.ts'
import type { ModelSections } from '../../suites/tensors/model-sections.ts'
import type { TargetSections } from '../../suites/tensors/targets/config-target.ts'

/** What `assay.config.ts` may hold. Paths are relative to the file itself. */
export interface AssayConfig
  extends FileValues<typeof TEST_OPTIONS>,
    ModelSections,
    TargetSections,
    DecoderSections,
    ExpectationSections,
    LayerSections,
    ConvergenceSections {}

/** Gives an editor the types of `assay.config.ts`. */
export function defineConfig(config: AssayConfig): AssayConfig {
  return config
}
