import { type ChildProcess, spawn } from 'node:child_process'
import { rm } from 'node:fs/promises'
import type { Readable, Writable } from 'node:stream'
import { describeTooManyFiles } from '../../domain/error-code.ts'
import { UsageError } from '../../domain/errors.ts'
import { secretsHider } from '../../domain/redact.ts'
import type { WorkerLaunch } from '../contract.ts'
import { type ChildExit, childExit } from '../process/child-exit.ts'
import { eachLine } from '../process/each-line.ts'
import { inheritedEnvironment } from '../process/inherited-environment.ts'
import { ProcessGroup } from '../process/process-group.ts'
import { markVariables, newMark } from '../process/process-mark.ts'
import { Tail } from '../process/tail.ts'
import { encodeHead } from '../protocol/frame.ts'

/** A worker as the system sees it: a process group, its channel and what it printed. */
export interface WorkerProcess {
  readonly pid: number | null
  readonly argv: readonly string[]
  readonly input: Writable
  readonly channel: Readable
  readonly tail: Tail
  /** Takes what it says over the channel as if it had printed it. */
  say(text: string): void
  /** Takes what a person should know now. */
  notify(text: string): void
  /** Resolves when it has ended and everything that it printed was read. */
  readonly exited: Promise<ChildExit>
  kill(): void
}

const STILL_THERE: ChildExit = { exitCode: null, signal: null, problem: null }

export function startProcess(launch: WorkerLaunch): WorkerProcess {
  const [program = '', ...args] = launch.argv
  const mark = newMark()
  const child = spawn(program, args, {
    detached: true,
    stdio: launch.channel === 'fd3' ? ['pipe', 'pipe', 'pipe', 'pipe'] : ['pipe', 'pipe', 'pipe'],
    env: {
      ...inheritedEnvironment(launch.environment ?? process.env, launch.inherits),
      ...launch.env,
      ...markVariables(mark),
    },
    ...(launch.cwd !== undefined && { cwd: launch.cwd }),
  })
  refuseUnopened(child)
  const tail = new Tail()
  const without = secretsHider(launch.argv)
  const onOutput = launch.onOutput && ((line: string) => launch.onOutput!(without(line)))
  const channel = child.stdio[launch.channel === 'fd3' ? 3 : 1] as Readable
  for (const printed of launch.channel === 'fd3' ? [child.stderr, child.stdout] : [child.stderr]) {
    tail.drain(printed as Readable)
    if (onOutput) eachLine(printed as Readable, onOutput)
  }
  const input = child.stdin as Writable
  // A worker that is gone is noticed by its exit; a broken pipe says nothing more.
  input.on('error', () => {})
  if (launch.order) input.write(encodeHead(launch.order, 0))
  const group = new ProcessGroup(child, mark)
  const unkillable = group.unkillable.then(() => STILL_THERE)
  const exited = Promise.race([childExit(child, () => group.killRest()), unkillable]).then(async (exit) => {
    if (launch.scratch !== undefined) await removeFolder(launch.scratch)
    return exit
  })
  const say = (text: string) => {
    tail.add(new TextEncoder().encode(`${text}\n`))
    onOutput?.(text)
  }
  const notify = launch.notice ?? say
  const argv = launch.shown ?? launch.argv
  return { pid: group.pid, argv, input, channel, tail, say, notify, exited, kill: () => group.kill() }
}

/** If pipes cannot be created, Node returns a child without them and reports the error later. */
function refuseUnopened(child: ChildProcess): void {
  if ((child.stdio as unknown) !== undefined) return
  child.on('error', () => {})
  throw new UsageError('EMFILE', describeTooManyFiles('EMFILE'))
}

/** The last processes of a group may still be writing there. */
async function removeFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }).catch(() => {})
}
