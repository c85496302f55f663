import { UsageError } from '../../domain/errors.ts'
import type { SuiteKind } from '../../suites/contract.ts'
import type { Action } from '../io.ts'
import { judgeCommand } from '../judge-command.ts'

/** Every suite in the configuration, as one run. */
export const run =
  (suites: readonly SuiteKind[]): Action =>
  async ([path], options, io) => {
    if (path === undefined) return judgeCommand({ command: 'run', words: [], options, suites }, io)
    const text = `assay run judges what the configuration names, found "${path}"; use assay test ${path}`
    throw new UsageError('path', text)
  }
