import type { Values } from '../../options/table.ts'
import type { SuiteCommand, SuiteKind } from '../contract.ts'
import { TARGET_SECTIONS } from '../tensors/sections.ts'
import { DECODER_GROUPS, DECODER_OPTIONS, DECODERS_COMMAND_OPTIONS } from './options/options.ts'
import type { DecodersAsked, DecodersConfig } from './plan/decoders-asked.ts'

type DecodersKind = SuiteKind<Values<typeof DECODERS_COMMAND_OPTIONS>, DecodersConfig, DecodersAsked>

const SHARED = {
  options: DECODERS_COMMAND_OPTIONS,
  groups: DECODER_GROUPS,
  section: { key: 'decoders', options: DECODER_OPTIONS },
  sections: [
    ...TARGET_SECTIONS,
    {
      key: 'decoders',
      title: 'Decoders',
      load: async () => (await import('./options/section-rules.ts')).DECODERS_RULES,
    },
  ],
} as const

function command(name: string, summary: string): SuiteCommand {
  return { name: `decoders ${name}`, argument: '<models...>', summary, completes: 'folders' }
}

export const DECODERS: DecodersKind = {
  ...SHARED,
  name: 'decoders',
  command: command('test', 'judge tokens and logits of text-generation models'),
  isConfigured: ({ decoders }) => decoders?.models !== undefined,
  load: async () => (await import('./plan/work.ts')).DECODERS_WORK,
}

/** Learns the normal noise. */
export const BASELINE: DecodersKind = {
  ...SHARED,
  name: 'baseline',
  command: command('baseline', 'learn what noise is normal'),
  isConfigured: () => false,
  load: async () => (await import('./plan/work.ts')).BASELINE_WORK,
}
