import { join } from 'node:path'
import type { LogEvent, LoggedMetrics, Recording } from '../../domain/convergence.ts'
import type { Lab } from '../../runs/contract.ts'
import type { ConvergenceTest, ManifestEntry, ResumeAt } from './config/contract.ts'
import { replayArgv } from './config/program-argv.ts'
import { pythonPattern } from './config/python-pattern.ts'
import { findSourcePath, type PlannedTest } from './planned-test.ts'
import type { ProgramOutcome } from './program/contract.ts'
import { runProgram } from './program/run-program.ts'
import { within } from './program/within.ts'
import { type Break, ReplayReader, replayReach } from './replay-window.ts'

/** One window, done again from its checkpoint. */
export interface Replay {
  readonly seed: number | null
  readonly resumeAt: ResumeAt
  readonly argv: readonly string[]
  readonly logFile: string
  readonly recording: Recording
  /** Steps that were logged with metrics before the window. */
  readonly early: readonly number[]
  readonly brokeAt: Break | null
  readonly outcome: ProgramOutcome
  /** How often the program was started, counting retries and each replay. */
  readonly attempts: number
  /** Two where another start was tried as well. */
  readonly replays: number
  /** Notes about its start. */
  readonly notes: readonly string[]
}

export interface ReplayRequest {
  readonly planned: PlannedTest
  readonly entry: ManifestEntry
  readonly checkpointInput: string
  readonly seed: number | null
  readonly resumeAt: ResumeAt
}

/** Steps of the lab hold plain data, and a recording is a map. */
interface StoredReplay extends Omit<Replay, 'recording' | 'logFile'> {
  readonly steps: readonly (readonly [number, LoggedMetrics])[]
}

export async function replay(request: ReplayRequest, lab: Lab): Promise<Replay> {
  const { planned, entry, checkpointInput, seed, resumeAt } = request
  const argv = replayArgv(planned.test, { ...replayReach(planned.test, entry, resumeAt), checkpointInput, seed })
  const { value, folder } = await lab.step(
    { title: titleOf(request), stage: 'run', side: 'target', key: null },
    async (folder): Promise<StoredReplay> => {
      const { recording, ...rest } = await attempt(request, argv, lab, folder)
      return { ...rest, steps: [...recording] }
    },
  )
  const { steps, ...rest } = value
  return { ...rest, recording: new Map(steps), logFile: logFileIn(folder) }
}

function titleOf({ planned, entry, seed, resumeAt }: ReplayRequest): string {
  const parts = [
    `replay from step ${entry.startStep}`,
    planned.test.resumeAt === null && resumeAt === 'next_step' && 'one step later',
    seed !== null && `seed ${seed}`,
  ]
  return parts.filter(Boolean).join(', ')
}

function logFileIn(folder: string): string {
  return join(folder, 'program.log')
}

async function attempt(
  { planned, entry, seed, resumeAt }: ReplayRequest,
  argv: readonly string[],
  lab: Lab,
  folder: string,
): Promise<Omit<Replay, 'logFile'>> {
  const { test } = planned
  for (let attempts = 1; ; attempts++) {
    const reader = new ReplayReader(entry.results, Object.keys(test.rules), isFile(test) ? test.stepsToRecord : 0)
    const onEvents = (events: readonly LogEvent[]) => {
      const isWanted = events.every((event) => reader.take(event))
      lab.progress(reader.progress)
      return isWanted
    }
    const outcome = await runProgram({ ...planProgram(planned, folder), argv, signal: lab.signal, onEvents })
    if (attempts <= test.retries.attempts && isInfrastructure(test, outcome) && !lab.signal.aborted) continue
    const { recording, early, brokeAt } = reader
    return { seed, resumeAt, argv, recording, early, brokeAt, outcome, attempts, replays: 1, notes: [] }
  }
}

/** What is the same for every start of a test's program. */
export function planProgram(planned: PlannedTest, folder: string) {
  const { test, cwd, environment, onOutput } = planned
  return {
    cwd,
    environment: { ...environment, ...test.environment },
    stream: test.logOutput,
    parsing: test.parsing,
    sourcePath: findSourcePath(planned),
    limits: {
      idleMs: test.idleSeconds * 1000,
      totalMs: test.totalSeconds === null ? null : test.totalSeconds * 1000,
      patternMs: 5000,
    },
    logFile: logFileIn(folder),
    ...(onOutput && { onOutput: (line: string) => onOutput(test.name, line) }),
  }
}

function isFile({ parsing }: ConvergenceTest): boolean {
  return 'path' in parsing.source
}

/** A failure that the configuration says has nothing to do with training. */
function isInfrastructure({ retries }: ConvergenceTest, { ending, exitCode, tail }: ProgramOutcome): boolean {
  if (ending !== 'exited' || exitCode === 0) return false
  const { exitCodes, patterns } = retries
  return (exitCode !== null && exitCodes.includes(exitCode)) || patterns.some((pattern) => isFound(pattern, tail))
}

const PATTERN_MS = 1000

/** A pattern that takes too long counts as not found. */
function isFound(pattern: string, text: string): boolean {
  const { source, flags } = pythonPattern(pattern)
  let found = false
  within(PATTERN_MS, () => {
    found = new RegExp(source, flags).test(text)
  })
  return found
}
