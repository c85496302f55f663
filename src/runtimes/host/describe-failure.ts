import type { FailureDetail } from '../../domain/errors.ts'
import { secretsHider } from '../../domain/redact.ts'
import type { Limits } from '../contract.ts'
import { type ChildExit, describeEnd } from '../process/child-exit.ts'
import type { EndDetail } from '../protocol/messages.ts'
import type { WorkerProcess } from './worker-process.ts'

export function describeExit(exit: ChildExit, unfinished: string | null = null): string {
  if (exit.signal === null && exit.exitCode === null) return 'the worker hangs and cannot be killed'
  return `the worker ${describeEnd(exit)}${unfinished ? `, ${unfinished}` : ' before it answered'}`
}

export function overMemory(residentBytes: number, limits: Limits): string {
  const mib = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MiB`
  return `the worker holds ${mib(residentBytes)} of memory; its limit is ${mib(limits.memoryBytes ?? 0)}`
}

/** `elsewhere`: how the program behind the worker ended, which replaces the worker's own exit. */
export function exitDetail({ argv, tail }: WorkerProcess, exit: ChildExit, elsewhere: EndDetail = {}): FailureDetail {
  const { exitCode, signal } = Object.keys(elsewhere).length > 0 ? elsewhere : exit
  return {
    ...(argv[0] !== undefined && { tool: argv[0] }),
    argv,
    ...(exitCode != null && { exitCode }),
    ...(signal != null && { signal }),
    // Part of it may become the reason why a target is not available.
    stderr: secretsHider(argv)(tail.text()),
  }
}
