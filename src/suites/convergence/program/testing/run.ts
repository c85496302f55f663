import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LogEvent } from '../../../../domain/convergence.ts'
import type { Finder, Parsing } from '../../config/contract.ts'
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
    limits: { idleMs: 20_000, totalMs: null, patternMs: 20_000 },
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

export const steps = (ran: Ran) => ran.events.map((event) => (event.kind === 'step' ? event.step : event.checkpoint))
