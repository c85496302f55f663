import { redactArguments, redactText, secretsHider } from '../../domain/redact.ts'
import type { CaseError, Result } from '../../domain/result.ts'

/** A result as it is recorded and reported: secrets of command lines are left out. */
export function hideSecrets(result: Result): Result {
  const { error, measurements } = result
  const shown = Object.entries(measurements).map(([name, value]) => [name, shownMeasurement(name, value)])
  return { ...result, measurements: Object.fromEntries(shown), ...(error && { error: hideInError(error) }) }
}

function shownMeasurement(name: string, value: unknown): unknown {
  return name.endsWith('.command') && typeof value === 'string' ? redactText(value) : value
}

function hideInError(error: CaseError): CaseError {
  const { argv, stderr, message } = error
  if (!argv) return error
  const without = secretsHider(argv)
  const printed = stderr === undefined ? {} : { stderr: without(stderr) }
  return { ...error, argv: redactArguments(argv), message: without(message), ...printed }
}
