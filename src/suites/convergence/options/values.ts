import { UsageError } from '../../../domain/errors.ts'
import type { Values } from '../../../options/table.ts'
import type { CONVERGENCE_OPTIONS } from './options.ts'

type Given = Values<typeof CONVERGENCE_OPTIONS>

/** The options that only convergence has. */
export interface ConvergeValues extends Given {
  readonly testConfigPath: string
  readonly storagePath: string
}

/** Checks what one option alone cannot know. */
export function convergeValues(given: Given): ConvergeValues {
  if (given.startOver && !given.gather)
    throw new UsageError('converge', '--start-over works only with -g, which gathers')
  return {
    ...given,
    testConfigPath: needed(given.testConfigPath, '-t', 'the configuration of the tests (YAML)'),
    storagePath: needed(given.storagePath, '-s', 'the folder of checkpoints and manifests'),
  }
}

function needed(value: string | undefined, flag: string, what: string): string {
  if (value !== undefined && value !== '') return value
  throw new UsageError(
    'converge',
    `assay converge needs ${flag}: ${what}; write assay converge -t tests.yml -s storage`,
  )
}
