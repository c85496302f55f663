import { UsageError } from '../../../domain/errors.ts'
import type { SuiteWork } from '../../contract.ts'
import type { ConvergenceSections } from '../options/section.ts'
import { type ConvergeAsked, type ConvergeRequest, readConverge } from './converge-asked.ts'

type ConvergeWork = SuiteWork<ConvergeRequest['values'], ConvergenceSections, ConvergeAsked>

const SHARED = {
  answer: async (asked, _context, selected) =>
    asked.dryRun ? (await import('./program-lines.ts')).showPrograms(asked, await selected()) : null,
} satisfies Partial<ConvergeWork>

export const CONVERGENCE_WORK: ConvergeWork = {
  ...SHARED,
  read: readConverge,
  plan: async (asked, context) => (await import('./plan-convergence.ts')).planConvergence(asked, context),
  watches: async (asked) => (await import('./watch-training.ts')).watchTraining(asked),
}

export const RENEWAL_WORK: ConvergeWork = {
  ...SHARED,
  read(request) {
    const asked = readConverge(request)
    if (asked.gather) throw new UsageError('converge', 'accept replaces recorded values; leave out -g')
    return asked
  },
  plan: async (asked, context) => (await import('./plan-convergence.ts')).planRenewal(asked, context),
}
