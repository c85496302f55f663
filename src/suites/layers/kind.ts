import type { Values } from '../../options/table.ts'
import type { SuiteKind } from '../contract.ts'
import type { ModelConfig } from '../tensors/models-asked.ts'
import { MODEL_SECTIONS } from '../tensors/sections.ts'
import { LAYER_GROUPS, LAYER_OPTIONS, LAYERS_OPTIONS } from './options.ts'
import type { LayersAsked } from './plan.ts'

export const LAYERS: SuiteKind<Values<typeof LAYERS_OPTIONS>, ModelConfig, LayersAsked> = {
  name: 'layers',
  command: {
    name: 'layers',
    argument: '[models...]',
    summary:
      'measure every layer of ONNX models and Hugging Face folders: how far it is off while both sides compute on their own values',
    completes: 'files',
  },
  options: LAYERS_OPTIONS,
  groups: LAYER_GROUPS,
  section: { key: 'layers', options: LAYER_OPTIONS },
  sections: MODEL_SECTIONS,
  isConfigured: () => false,
  load: async () => (await import('./plan.ts')).LAYERS_WORK,
}
