import { setMaxListeners } from 'node:events'
import { StageError } from '../../domain/errors.ts'
import type { Target } from '../../domain/target.ts'
import type { Side, Stage } from '../../domain/verdict.ts'
import { RefusedRequest, WorkerFailure } from '../failure.ts'
import type { Worker, WorkerAllocator } from './worker-allocator.ts'

/** Some work that a worker of this target is to do. */
export interface Task {
  readonly target: Target
  readonly side: Side
  readonly signal?: AbortSignal
  /** Nobody is blamed for a death over this work, so it is not done again. */
  readonly isTrial?: boolean
}

/** How far an attempt got. */
export interface AttemptProgress {
  stage: Stage
}

/** A worker and the task that it was acquired for. */
export interface AcquiredWorker<T extends Task = Task> {
  readonly task: T
  readonly worker: Worker
  readonly progress: AttemptProgress
}

/** `alone`: in a fresh worker that nobody else will use. */
type Work<T> = (worker: Worker, progress: AttemptProgress, alone: boolean) => Promise<T>
type JointWork<K extends Task, T> = (allAcquired: readonly AcquiredWorker<K>[], alone: boolean) => Promise<T>

export interface Done<T> {
  readonly value: T
  /** A worker died over this work, and it was done again alone in a fresh one. */
  readonly retried: boolean
}

/** Earlier work in the same worker may have caused a death, so it counts only if it happens again alone. */
export async function workWithBlame<T>(
  allocator: WorkerAllocator,
  task: Task,
  isolate: boolean,
  work: Work<T>,
): Promise<Done<T>> {
  return workTogether(allocator, [task], isolate, ([acquired], alone) =>
    work(acquired!.worker, acquired!.progress, alone),
  )
}

/** The same for work that needs a worker of every task. They take turns, so together they have one place among the workers. */
export async function workTogether<K extends Task, T>(
  allocator: WorkerAllocator,
  tasks: readonly K[],
  isolate: boolean,
  work: JointWork<K, T>,
): Promise<Done<T>> {
  // Every case in flight listens to the same signal.
  for (const { signal } of tasks) if (signal) setMaxListeners(0, signal)
  const first = await attempt(allocator, tasks, isolate, work)
  if (!(first instanceof BlamedFailure)) return { value: first, retried: false }
  const mayBeAnother = first.failure.kind === 'died' || first.failure.kind === 'memory'
  if (!mayBeAnother || tasks.some(({ isTrial }) => isTrial)) throw first.toError(null)
  const second = await attempt(allocator, tasks, true, work)
  if (second instanceof BlamedFailure) throw first.toError(second)
  return { value: second, retried: true }
}

/** Does a part of joint work whose failure is this worker's own. */
export async function blaming<T>({ task, progress }: AcquiredWorker, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw blame(error, task, progress.stage)
  }
}

/** A worker failed while it did this stage. */
class BlamedFailure extends Error {
  readonly failure: WorkerFailure
  readonly task: Task
  readonly stage: Stage
  constructor(failure: WorkerFailure, task: Task, stage: Stage) {
    super(failure.message)
    this.failure = failure
    this.task = task
    this.stage = stage
  }

  toError(later: BlamedFailure | null): unknown {
    const { target, side, signal } = this.task
    const { kind, message, detail } = this.failure
    if ((kind === 'aborted' || later?.failure.kind === 'aborted') && signal?.aborted) return signal.reason
    const text = `${target.name}: ${message}${later ? whatCameLater(this, later) : ''}`
    return new StageError(this.stage, text, { side, detail, cause: this.failure })
  }
}

function whatCameLater(first: BlamedFailure, second: BlamedFailure): string {
  const isSame =
    first.message === second.message || (first.failure.kind === 'memory' && second.failure.kind === 'memory')
  if (first.task !== second.task) {
    return `; then, alone in a fresh worker, ${second.task.target.name}: ${second.message}`
  }
  return isSame
    ? ', twice, the second time alone in a fresh worker'
    : `; then, alone in a fresh worker: ${second.message}`
}

async function attempt<K extends Task, T>(
  allocator: WorkerAllocator,
  tasks: readonly K[],
  alone: boolean,
  work: JointWork<K, T>,
  allAcquired: readonly AcquiredWorker<K>[] = [],
): Promise<T | BlamedFailure> {
  const [task, ...others] = tasks
  if (!task) return work(allAcquired, alone)
  const { target, signal } = task
  const progress: AttemptProgress = { stage: 'compile' }
  const beside = allAcquired.map((acquired) => acquired.task.target)
  try {
    const worker = await allocator.acquire(target, { fresh: alone, beside, ...(signal && { signal }) })
    try {
      const all = [...allAcquired, { task, worker, progress }]
      return await worker.abortable(signal, () => attempt(allocator, others, alone, work, all))
    } finally {
      await allocator.release(target, worker, !alone, beside)
    }
  } catch (error) {
    const blamed = blame(error, task, progress.stage)
    if (blamed instanceof BlamedFailure) return blamed
    throw blamed
  }
}

function blame(error: unknown, task: Task, stage: Stage): unknown {
  if (error instanceof WorkerFailure) return new BlamedFailure(error, task, stage)
  return asStageError(error, task, stage)
}

function asStageError(error: unknown, { target, side }: Task, stage: Stage): unknown {
  if (error instanceof RefusedRequest) {
    return new StageError(error.stage ?? stage, `${target.name}: ${error.message}`, { side, detail: error.detail })
  }
  if (!(error instanceof StageError) || error.side) return error
  return new StageError(error.stage, `${target.name}: ${error.message}`, { side, detail: error.detail, cause: error })
}
