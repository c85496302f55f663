import { UsageError } from '../../../domain/errors.ts'
import { type Kind, parsed, path, text } from '../../../options/kinds.ts'
import type { OptionTable } from '../../../options/table.ts'

/** Whole numbers, several with commas: a case for each. */
const sizes: Kind<readonly number[]> = parsed('sizes, such as 4 or "1,8"', parseSizes, (value) => value.join(','))

function parseSizes(given: string, name: string): number[] {
  const numbers = given.split(',').map((word) => (word.trim() === '' ? Number.NaN : Number(word)))
  if (numbers.every((size) => Number.isSafeInteger(size) && size >= 1)) return [...new Set(numbers)]
  throw new UsageError('option', `${name} takes whole numbers from 1 up, found "${given}"`)
}

/** What text-generation models are given; the names that other tools have for it are each suite's own. */
export const PROMPT_OPTIONS = {
  batchSize: {
    flags: '--batch-size <list>',
    kind: sizes,
    default: [4],
    help: 'prompts to decode at once; 1,8 makes one case for each',
  },
  promptLength: {
    flags: '--prompt-length <list>',
    kind: sizes,
    default: [64],
    help: 'tokens per prompt; shorter prompts are padded on the left; a list makes several cases',
  },
  maxNewTokens: {
    flags: '--max-new-tokens <list>',
    kind: sizes,
    default: [128],
    documented: ['--max_new_tokens <list>'],
    help: 'tokens to decode after each prompt; a list makes several cases',
  },
  prompts: {
    flags: '--prompts <file>',
    kind: path,
    documented: ['--sharegpt_path <file>'],
    variable: 'SHARE_GPT_DATASET_PATH',
    help: 'file with prompts: ShareGPT JSON, JSON lines or text (default: a bundled set)',
    completes: 'files',
  },
  tokenizer: {
    flags: '--tokenizer <folder>',
    kind: text,
    help: 'folder or id of the tokenizer (default: the model’s own)',
    completes: 'folders',
  },
} satisfies OptionTable
