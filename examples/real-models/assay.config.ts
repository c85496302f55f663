import { defineConfig } from '../../src/library/config/assay-config.ts'
import { realModels } from './real-models.ts'

/** Models that people ship to browsers, with inputs that mean something to them. */
export default defineConfig({
  models: realModels.map(({ path }) => path),
  inputs: Object.fromEntries(realModels.map(({ id, inputs }) => [id, inputs])),
  dims: Object.fromEntries(realModels.map(({ id, dims }) => [id, dims])),
})
