import type { ChildProcess } from 'node:child_process'

/** A process that hangs in a driver outlives even SIGKILL. */
const UNKILLABLE_MS = 5000

const living = new Set<number>()
let hooked = false

/** A detached child with all that it started: ended together, and taken along when we end. */
export class ProcessGroup {
  readonly pid: number | null
  /** Resolves when it was killed and is still there. */
  readonly unkillable: Promise<void>
  #giveUp: () => void = () => {}

  constructor(child: ChildProcess) {
    this.pid = child.pid ?? null
    this.unkillable = new Promise((resolve) => {
      this.#giveUp = resolve
    })
    if (this.pid !== null) killWithHost(this.pid)
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
function killWithHost(pid: number): void {
  living.add(pid)
  if (hooked) return
  hooked = true
  process.on('exit', () => {
    for (const group of living) signalGroup(group, 'SIGKILL')
  })
}
