import { COMMON_OPTIONS } from '../../options/common.ts'
import type { OptionTable } from '../../options/table.ts'
import { COMPARISON_OPTIONS, INPUT_OPTIONS, SCOPE_OPTION, SIDE_OPTIONS } from '../tensors/options.ts'

export const FOLDER_OPTIONS = {
  ...SIDE_OPTIONS,
  ...SCOPE_OPTION,
  ...INPUT_OPTIONS,
  ...COMPARISON_OPTIONS,
  ...COMMON_OPTIONS,
} satisfies OptionTable
