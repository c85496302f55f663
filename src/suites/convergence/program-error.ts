import type { CaseError } from '../../domain/result.ts'
import type { Side } from '../../domain/verdict.ts'
import type { ProgramOutcome } from './program/contract.ts'

/** Why a program could not be judged, with the last that it printed. */
export function programError(
  { outcome, argv }: { readonly outcome: ProgramOutcome; readonly argv: readonly string[] },
  side: Side = 'target',
): CaseError {
  const { exitCode, signal, tail } = outcome
  return {
    stage: 'run',
    side,
    message: endingText(outcome),
    tool: argv[0] ?? '',
    argv,
    ...(exitCode !== null && { exitCode }),
    ...(signal !== null && { signal }),
    ...(tail !== '' && { stderr: tail }),
  }
}

function endingText({ problem, exitCode, signal }: ProgramOutcome): string {
  if (problem !== null) return problem
  return signal === null ? `the program ended with exit code ${exitCode}` : `the program was ended by ${signal}`
}

/** It ended by itself without complaint, or because nothing more was wanted of it. */
export function isHealthy({ ending, exitCode }: ProgramOutcome): boolean {
  return ending === 'enough' || (ending === 'exited' && exitCode === 0)
}
