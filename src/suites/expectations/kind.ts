import type { Values } from '../../options/table.ts'
import type { SuiteKind } from '../contract.ts'
import { TARGET_SECTIONS } from '../tensors/sections.ts'
import { EXPECT_OPTIONS, EXPECTATION_GROUPS, EXPECTATION_OPTIONS } from './options.ts'
import type { ExpectationsAsked, ExpectationsConfig } from './plan.ts'

export const EXPECTATIONS: SuiteKind<Values<typeof EXPECT_OPTIONS>, ExpectationsConfig, ExpectationsAsked> = {
  name: 'expectations',
  command: {
    name: 'expect',
    argument: '[models...]',
    summary: 'judge models by snapshots of what they gave before on the same target, and capture those',
    completes: 'folders',
  },
  options: EXPECT_OPTIONS,
  groups: EXPECTATION_GROUPS,
  section: { key: 'expectations', options: EXPECTATION_OPTIONS },
  sections: [
    ...TARGET_SECTIONS,
    {
      key: 'expectations',
      title: 'Models with snapshots',
      load: async () => (await import('./section-rules.ts')).EXPECTATIONS_RULES,
    },
  ],
  isConfigured: ({ expectations }) =>
    expectations?.decoder_models !== undefined || expectations?.tuple_output_models !== undefined,
  load: async () => (await import('./plan.ts')).EXPECTATIONS_WORK,
}
