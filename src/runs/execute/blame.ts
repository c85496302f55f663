import { describeTooManyFiles, tooManyFilesCode } from '../../domain/error-code.ts'
import { type FailureDetail, SkipCase, StageError } from '../../domain/errors.ts'
import type { StepSpec } from '../contract.ts'
import { describeFullDisk, fullDiskCode } from '../disk-errors.ts'

/** Does work for a step; errors that do not say where they arose belong to that step. */
export async function blaming<T>(spec: StepSpec, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw blamed(error, spec)
  }
}

function blamed(error: unknown, spec: StepSpec): unknown {
  const where = { cause: error, ...(spec.side && { side: spec.side }) }
  const full = fullDiskCode(error)
  if (full) return new StageError(spec.stage, describeFullDisk(full, `working on "${spec.title}"`), where)
  const tooMany = tooManyFilesCode(error)
  if (tooMany) return new StageError(spec.stage, describeTooManyFiles(tooMany), where)
  if (error instanceof StageError || error instanceof SkipCase) return error
  return new StageError(spec.stage, describeError(error), { ...where, detail: readStack(error) })
}

const PROGRAMMING_ERRORS = new Set(['TypeError', 'RangeError', 'ReferenceError', 'SyntaxError'])

/** What went wrong in one line; our own mistakes are called so. */
export function describeError(error: unknown): string {
  const tooMany = tooManyFilesCode(error)
  if (tooMany) return describeTooManyFiles(tooMany)
  if (!(error instanceof Error)) return `something that is no error was thrown: ${String(error)}`
  return isOurMistake(error) ? `unexpected ${error.name}: ${error.message} (this is a bug in Assay)` : error.message
}

export function readStack(error: unknown): FailureDetail {
  return error instanceof Error && isOurMistake(error) && error.stack ? { stderr: error.stack } : {}
}

function isOurMistake(error: Error): boolean {
  return PROGRAMMING_ERRORS.has(error.name)
}
