import type { Values } from '../../options/table.ts'
import type { SuiteKind } from '../contract.ts'
import { CONVERGE_COMMAND_OPTIONS, CONVERGE_GROUPS, CONVERGENCE_OPTIONS } from './options/options.ts'
import type { ConvergenceSections } from './options/section.ts'
import type { ConvergeAsked } from './plan/converge-asked.ts'

type ConvergeKind = SuiteKind<Values<typeof CONVERGE_COMMAND_OPTIONS>, ConvergenceSections, ConvergeAsked>

const SHARED = {
  options: CONVERGE_COMMAND_OPTIONS,
  groups: CONVERGE_GROUPS,
  section: { key: 'convergence', options: CONVERGENCE_OPTIONS },
  sections: [
    {
      key: 'convergence',
      title: 'Convergence',
      load: async () => (await import('./options/section-rules.ts')).CONVERGENCE_RULES,
    },
  ],
} as const

export const CONVERGENCE: ConvergeKind = {
  ...SHARED,
  name: 'convergence',
  command: {
    name: 'converge',
    summary: 'check whether training has got worse: replay windows from checkpoints; -g records them',
  },
  isConfigured: ({ convergence }) => convergence !== undefined,
  load: async () => (await import('./plan/work.ts')).CONVERGENCE_WORK,
}

/** Makes what training gives now the reference. */
export const RENEWAL: ConvergeKind = {
  ...SHARED,
  name: 'renewal',
  command: { name: 'converge accept', summary: 'replace the recorded values with new replays' },
  isConfigured: () => false,
  load: async () => (await import('./plan/work.ts')).RENEWAL_WORK,
}
