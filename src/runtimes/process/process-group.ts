import type { ChildProcess } from 'node:child_process'
import { endMarked } from './process-mark.ts'

/** A process that hangs in a driver outlives even SIGKILL. */
const UNKILLABLE_MS = 5000

/** Group → mark. */
const living = new Map<number, string>()
let hooked = false

/** A detached child with all that it started, also in sessions of their own: ended together, and taken along when we end. */
export class ProcessGroup {
  readonly pid: number | null
  /** Resolves when it was killed and is still there. */
  readonly unkillable: Promise<void>
  readonly #mark: string
  #giveUp: () => void = () => {}

  /** `mark` is in the child's environment. */
  constructor(child: ChildProcess, mark: string) {
    this.pid = child.pid ?? null
    this.#mark = mark
    this.unkillable = new Promise((resolve) => {
      this.#giveUp = resolve
    })
    if (this.pid !== null) killWithHost(this.pid, mark)
  }

  /** Asks all of them to end. */
  terminate(): void {
    signalGroup(this.pid, 'SIGTERM')
  }

  kill(): void {
    signalGroup(this.pid, 'SIGKILL')
    setTimeout(this.#giveUp, UNKILLABLE_MS).unref()
  }

  /** Ends those that outlived the child itself. */
  killRest(): void {
    signalGroup(this.pid, 'SIGKILL')
    endMarked([this.#mark])
    living.delete(this.pid ?? 0)
  }
}

function signalGroup(pid: number | null, signal: NodeJS.Signals): void {
  if (pid === null) return
  try {
    process.kill(-pid, signal)
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    // ESRCH: nobody is left; EPERM on macOS: only zombies are left.
    if (code !== 'ESRCH' && code !== 'EPERM') throw error
  }
}

/** Detached groups do not hear the terminal's Ctrl-C, so the host takes them along. */
function killWithHost(pid: number, mark: string): void {
  living.set(pid, mark)
  if (hooked) return
  hooked = true
  process.on('exit', () => {
    for (const group of living.keys()) signalGroup(group, 'SIGKILL')
    endMarked([...living.values()])
  })
}
