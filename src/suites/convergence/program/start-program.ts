import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { SYSTEM_CLOCK } from '../../../domain/clock.ts'
import { cleanText } from '../../../domain/text.ts'
import { WorkerFailure } from '../../../runtimes/failure.ts'
import { locateProgram, workingFolder } from '../../../runtimes/process/locate-program.ts'
import { ProcessGroup } from '../../../runtimes/process/process-group.ts'
import { markVariables, newMark } from '../../../runtimes/process/process-mark.ts'
import type { ProgramRequest } from './contract.ts'
import { readLastWords } from './last-words.ts'

export type ProgramChild = ChildProcessByStdio<null, Readable, Readable>

interface ProgramExit {
  readonly exitCode: number | null
  readonly signal: string | null
  readonly warning: string | null
}

export interface StartedProgram {
  readonly stdout: Readable
  readonly stderr: Readable
  /** Resolves when it has ended and both streams are at their end. */
  readonly exited: Promise<ProgramExit>
  /** Asks it to end, and ends it when it does not. */
  end(): void
}

/** Training programs may want to write something down before they go. */
const GRACE_MS = 2000

/** Starts argv as it stands, in a process group of its own; a WorkerFailure says why it cannot. */
export async function startProgram(request: ProgramRequest): Promise<StartedProgram> {
  const { clock = SYSTEM_CLOCK } = request
  const mark = newMark()
  const child = await spawned(request, mark)
  const group = new ProcessGroup(child, mark)
  const unkillable = group.unkillable.then(() => stillThere(child))
  const exit = once(child, 'exit') as Promise<[number | null, string | null]>
  const gone = exit.then(async ([exitCode, signal]) => {
    const warning = await readLastWords(child, group, clock)
    return { exitCode, signal, warning }
  })
  const end = () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    group.terminate()
    child.once(
      'exit',
      clock.after(GRACE_MS, () => group.kill()),
    )
  }
  return { stdout: child.stdout, stderr: child.stderr, exited: Promise.race([gone, unkillable]), end }
}

async function spawned(request: ProgramRequest, mark: string): Promise<ProgramChild> {
  const [program, ...args] = request.argv
  if (program === undefined || program === '')
    throw new WorkerFailure('start', 'there is no program to start: argv is empty')
  const cwd = workingFolder(request.cwd, '.')
  const env: NodeJS.ProcessEnv = { PYTHONUNBUFFERED: '1', ...request.environment, ...markVariables(mark) }
  const place = locateProgram(program, cwd, env.PATH ?? '')
  try {
    const child = spawn(place, args, { argv0: program, cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
    await once(child, 'spawn')
    return child
  } catch (error) {
    throw new WorkerFailure(
      'start',
      `cannot start ${cleanText(program)}: ${whyNot(error as NodeJS.ErrnoException, place)}`,
    )
  }
}

function whyNot(error: NodeJS.ErrnoException, place: string): string {
  if (error.code === 'ENOEXEC')
    return `${place} is not a program; a script begins with a line such as #!/usr/bin/env python3`
  if (error.code === 'E2BIG') return 'its arguments and environment are longer than the system allows'
  if (error.code === 'ENOENT')
    return `${place} exists, but the interpreter that its first line or header names does not`
  return error.message
}

function stillThere(child: ProgramChild): ProgramExit {
  child.stdout.destroy()
  child.stderr.destroy()
  return { exitCode: null, signal: null, warning: `process ${child.pid} does not end, even by SIGKILL` }
}
