import type { Values } from '../../options/table.ts'
import type { SuiteKind } from '../contract.ts'
import type { ModelConfig } from '../tensors/models-asked.ts'
import { MODEL_SECTIONS } from '../tensors/sections.ts'
import { TEST_COMMAND } from '../tensors/test-command.ts'
import { TEST_GROUPS, TEST_OPTIONS } from './options.ts'
import type { OnnxAsked } from './plan.ts'

export const ONNX: SuiteKind<Values<typeof TEST_OPTIONS>, ModelConfig, OnnxAsked> = {
  name: 'onnx',
  command: TEST_COMMAND,
  options: TEST_OPTIONS,
  groups: TEST_GROUPS,
  sections: MODEL_SECTIONS,
  isConfigured: ({ models }) => models !== undefined,
  load: async () => (await import('./plan.ts')).ONNX_WORK,
}
