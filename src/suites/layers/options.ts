import { COMMON_OPTIONS } from '../../options/common.ts'
import { oneOf } from '../../options/kinds.ts'
import { type OptionTable, repeated } from '../../options/table.ts'
import { INPUT_OPTIONS, SIDE_OPTIONS } from '../tensors/options.ts'
import { JUDGING_OPTIONS } from './judging/options.ts'

/** What both sides compute while their layers are observed. */
export const MODES = ['model-forward'] as const
export type Mode = (typeof MODES)[number]

export const LAYERS_OPTIONS = {
  ...repeated({
    mode: {
      flags: '--mode <mode>',
      kind: oneOf(MODES),
      help: 'required; model-forward: one forward pass on the same inputs, without a cache and without generating',
      completes: MODES,
    },
  }),
  ...SIDE_OPTIONS,
  reference: { ...SIDE_OPTIONS.reference, help: 'trusted target to compare with, one alone (default: torch:cpu)' },
  target: { ...SIDE_OPTIONS.target, help: 'target to measure; repeatable (default: torch:cpu,dtype=bf16)' },
  ...JUDGING_OPTIONS,
  ...INPUT_OPTIONS,
  ...COMMON_OPTIONS,
} satisfies OptionTable
