import type { SuiteWork } from '../../contract.ts'
import {
  type DecodersAsked,
  type DecodersConfig,
  type DecodersRequest,
  readDecoders,
  variableOptions,
} from './decoders-asked.ts'

type DecodersWork = SuiteWork<DecodersRequest['values'], DecodersConfig, DecodersAsked>

const SHARED = {
  read: readDecoders,
  settled: ({ sides }) => sides,
  words: ({ named }) => named,
  repeatedWords: variableOptions,
} satisfies Partial<DecodersWork>

export const DECODERS_WORK: DecodersWork = {
  ...SHARED,
  plan: async (asked, context) => (await import('./plan-test.ts')).planTest(asked, context),
  watches: async (asked) => (await import('./watch-decoders.ts')).watchDecoders(asked),
}

export const BASELINE_WORK: DecodersWork = {
  ...SHARED,
  plan: async (asked, context) => (await import('./plan-baseline.ts')).planBaseline(asked, context),
}
