import type { Clock } from '../../../domain/clock.ts'
import type { LogEvent } from '../../../domain/convergence.ts'
import type { Environment } from '../../../domain/environment.ts'
import type { Parsing } from '../config/contract.ts'

/** A program that trains, seen through its arguments, what it prints and the files it writes. */
export interface ProgramRequest {
  readonly argv: readonly string[]
  readonly cwd: string
  readonly environment: Environment
  readonly stream: 'stdout' | 'stderr' | 'both'
  readonly parsing: Parsing
  /** Where a file that is a source lies; null for streams. */
  readonly sourcePath: string | null
  readonly limits: ProgramLimits
  /** Clock for all limits except that of patterns; the system's by default. */
  readonly clock?: Clock
  readonly signal: AbortSignal
  /** Both streams go there as they come. */
  readonly logFile: string
  readonly onOutput?: (line: string) => void
  /** Events in their order; false: enough, the program is ended. */
  onEvents(events: readonly LogEvent[]): boolean
}

interface ProgramLimits {
  /** Limit without output on either stream. */
  readonly idleMs: number
  readonly totalMs: number | null
  /** For all patterns on one batch of lines. */
  readonly patternMs: number
}

export interface ProgramOutcome {
  /** `enough`: the reader had what it wanted; `unreadable`: a file of metrics is not what it should be. */
  readonly ending: 'exited' | 'enough' | 'idle' | 'timeout' | 'aborted' | 'pattern' | 'unreadable' | 'not-started'
  readonly exitCode: number | null
  readonly signal: string | null
  /** What went wrong, for all endings but the first two. */
  readonly problem: string | null
  /** The last of both streams. */
  readonly tail: string
  readonly lines: number
  /** On the stream that is not read. */
  readonly otherLines: number
  readonly warnings: readonly string[]
  readonly durationMs: number
}
