import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LogEvent } from '../../../domain/convergence.ts'
import type { Finder, Parsing } from '../../../files/convergence/contract.ts'
import type { ProgramOutcome, ProgramRequest } from '../contract.ts'
import { runProgram } from '../run-program.ts'

export const pattern = (source: string): Finder => ({ kind: 'pattern', source, flags: '', labels: null })

export const LOSS_PARSING: Parsing = {
  source: { kind: 'lines' },
  stepNum: pattern('step (\\d+)'),
  modelSave: pattern('saved (\\S+)'),
  metrics: { loss: pattern('loss (\\S+)') },
}

export interface Ran extends ProgramOutcome {
  readonly events: readonly LogEvent[]
  readonly log: string
}

/** For programs: resolves when somebody wrote a file. */
export const WAITS = `
import { existsSync } from 'node:fs'
const written = async (path) => { while (!existsSync(path)) await new Promise((resolve) => setTimeout(resolve, 5)) }
`

export const folder = mkdtempSync(join(tmpdir(), 'program-'))
let count = 0

/** A Node program given as its text, or whole arguments. */
export async function run(program: string | readonly string[], changes: Partial<ProgramRequest> = {}): Promise<Ran> {
  const place = join(folder, String(count++))
  if (typeof program === 'string') writeFileSync(`${place}.mjs`, program)
  const events: LogEvent[] = []
  const logFile = `${place}.log`
  const outcome = await runProgram({
    argv: typeof program === 'string' ? [process.execPath, `${place}.mjs`] : program,
    cwd: folder,
    stream: 'stdout',
    parsing: LOSS_PARSING,
    sourcePath: null,
    limits: { idleMs: 20_000, totalMs: null, patternMs: 1000 },
    signal: new AbortController().signal,
    logFile,
    onEvents(part) {
      events.push(...part)
      return true
    },
    ...changes,
    environment: { ...process.env, ...changes.environment },
  })
  return { ...outcome, events, log: readFileSync(logFile, 'utf8') }
}

/** Whether a process goes on; one that has ended and that nobody has asked about yet does not. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  const stat = `/proc/${pid}/stat`
  return !existsSync(stat) || !/\) Z /.test(readFileSync(stat, 'utf8'))
}

/** Resolves when a process has ended. */
export async function ended(pid: number): Promise<void> {
  while (isAlive(pid)) await sleep(10)
}

export const steps = (ran: Ran) => ran.events.map((event) => (event.kind === 'step' ? event.step : event.checkpoint))
