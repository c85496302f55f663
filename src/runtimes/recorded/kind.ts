import type { InProcessKind } from '../contract.ts'
import { recordedRuntime } from './runtime.ts'
import { RECORDED_SCHEMA } from './schema.ts'

/** Outputs that were stored before: nothing is run. */
export const RECORDED: InProcessKind = {
  name: 'recorded',
  schema: RECORDED_SCHEMA,
  untried: () => 'stored outputs, read from a folder of safetensors, npy or .pb files; give it as recorded:./folder',
  create: async (_target, { projectFolder }) => recordedRuntime(projectFolder),
}
