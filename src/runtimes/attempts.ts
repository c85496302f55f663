import { setMaxListeners } from 'node:events'
import { StageError } from '../domain/errors.ts'
import type { Target } from '../domain/target.ts'
import type { Side, Stage } from '../domain/verdict.ts'
import type { Crew, Worker } from './crew.ts'
import { RefusedRequest, WorkerFailure } from './failure.ts'

/** Some work that a worker of this target is to do. */
export interface Task {
  readonly target: Target
  readonly side: Side
  readonly signal?: AbortSignal
}

/** How far an attempt got. */
export interface Progress {
  stage: Stage
}

/** `alone`: in a fresh worker that nobody else will use. */
type Work<T> = (worker: Worker, progress: Progress, alone: boolean) => Promise<T>

export interface Done<T> {
  readonly value: T
  /** A worker died over this work, and it was done again alone in a fresh one. */
  readonly retried: boolean
}

/** A death may be the fault of earlier work in the same worker, so it counts only when it happens again alone. */
export async function workWithBlame<T>(crew: Crew, task: Task, isolate: boolean, work: Work<T>): Promise<Done<T>> {
  // Every case in flight listens to the same signal.
  if (task.signal) setMaxListeners(0, task.signal)
  const first = await attempt(crew, task, isolate, work)
  if (!(first instanceof Blamed)) return { value: first, retried: false }
  if (first.failure.kind !== 'died' && first.failure.kind !== 'memory') throw first.toError(task, null)
  const second = await attempt(crew, task, true, work)
  if (second instanceof Blamed) throw first.toError(task, second.failure)
  return { value: second, retried: true }
}

/** A worker failed while it did this stage. */
class Blamed {
  readonly failure: WorkerFailure
  readonly stage: Stage
  constructor(failure: WorkerFailure, stage: Stage) {
    this.failure = failure
    this.stage = stage
  }

  toError({ target, side, signal }: Task, later: WorkerFailure | null): unknown {
    const { kind, message, detail } = this.failure
    if ((kind === 'aborted' || later?.kind === 'aborted') && signal?.aborted) return signal.reason
    const text = `${target.name}: ${message}${later ? whatCameLater(this.failure, later) : ''}`
    return new StageError(this.stage, text, { side, detail, cause: this.failure })
  }
}

function whatCameLater(first: WorkerFailure, second: WorkerFailure): string {
  const isSame = first.message === second.message || (first.kind === 'memory' && second.kind === 'memory')
  return isSame
    ? ', twice, the second time alone in a fresh worker'
    : `; then, alone in a fresh worker: ${second.message}`
}

async function attempt<T>(crew: Crew, task: Task, alone: boolean, work: Work<T>): Promise<T | Blamed> {
  const { target, signal } = task
  const progress: Progress = { stage: 'compile' }
  try {
    const worker = await crew.acquire(target, { fresh: alone, ...(signal && { signal }) })
    try {
      return await worker.abortable(signal, () => work(worker, progress, alone))
    } finally {
      await crew.release(target, worker, !alone)
    }
  } catch (error) {
    if (error instanceof WorkerFailure) return new Blamed(error, progress.stage)
    throw asStageError(error, task, progress.stage)
  }
}

function asStageError(error: unknown, { target, side }: Task, stage: Stage): unknown {
  if (error instanceof RefusedRequest) {
    return new StageError(stage, `${target.name}: ${error.message}`, { side, detail: error.detail })
  }
  if (!(error instanceof StageError) || error.side) return error
  return new StageError(error.stage, `${target.name}: ${error.message}`, { side, detail: error.detail, cause: error })
}
