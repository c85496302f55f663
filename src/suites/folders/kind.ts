import type { Values } from '../../options/table.ts'
import type { SuiteKind } from '../contract.ts'
import type { ModelConfig, ModelsAsked } from '../tensors/models-asked.ts'
import { MODEL_SECTIONS } from '../tensors/sections.ts'
import { TEST_COMMAND } from '../tensors/test-command.ts'
import { FOLDER_OPTIONS } from './options.ts'

export const FOLDERS: SuiteKind<Values<typeof FOLDER_OPTIONS>, ModelConfig, ModelsAsked> = {
  name: 'folders',
  command: TEST_COMMAND,
  options: FOLDER_OPTIONS,
  sections: MODEL_SECTIONS,
  isConfigured: ({ models }) => models !== undefined,
  load: async () => (await import('./plan.ts')).FOLDERS_WORK,
}
