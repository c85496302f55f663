import { formatDuration } from '../../domain/text.ts'
import type { ProgramOutcome, ProgramRequest } from './contract.ts'

export type Stop = (ending: ProgramOutcome['ending'], problem: string | null) => void

/** Looks after the time limits of a program and whether it is still wanted. */
export class Watch {
  readonly #request: ProgramRequest
  readonly #stop: Stop
  readonly #clock: () => number
  readonly #startedAt: number
  readonly #timer: NodeJS.Timeout
  #lastSignAt: number

  /** `isHeld`: it may be waiting for us, which is no fault of its own. */
  constructor(request: ProgramRequest, isHeld: () => boolean, stop: Stop) {
    this.#request = request
    this.#stop = stop
    this.#clock = request.clock ?? (() => performance.now())
    this.#startedAt = this.#clock()
    this.#lastSignAt = this.#startedAt
    const { idleMs, totalMs } = request.limits
    const tickMs = Math.min(Math.max(Math.min(idleMs, totalMs ?? idleMs) / 20, 5), 250)
    this.#timer = setInterval(() => {
      if (isHeld()) this.sign()
      // Timers come before what has arrived meanwhile.
      setImmediate(() => this.#check())
    }, tickMs)
    request.signal.addEventListener('abort', this.#abort)
    if (request.signal.aborted) this.#abort()
  }

  /** It is alive. */
  sign(): void {
    this.#lastSignAt = this.#clock()
  }

  close(): void {
    clearInterval(this.#timer)
    this.#request.signal.removeEventListener('abort', this.#abort)
  }

  #abort = (): void => this.#stop('aborted', 'it was ended because the run was interrupted')

  #check(): void {
    const now = this.#clock()
    const { idleMs, totalMs } = this.#request.limits
    if (totalMs !== null && now - this.#startedAt > totalMs) {
      this.#stop(
        'timeout',
        `it was still running after ${formatDuration(totalMs)}, the total time limit, and was ended`,
      )
    } else if (now - this.#lastSignAt > idleMs) {
      this.#stop('idle', `it printed nothing for ${formatDuration(idleMs)}, the idle time limit, and was ended`)
    }
  }
}
