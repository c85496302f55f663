import type { TensorSink } from '../../domain/tensor.ts'
import { type AcquiredWorker, blaming, type Done, workTogether } from './attempts.ts'
import { type CaptureTask, openForCapture } from './capture-task.ts'
import { doTogether, type Meeting } from './do-together.ts'
import { type KeptSessions, logsFor, putAway } from './kept-sessions.ts'
import { refuseOutputs } from './refuse.ts'
import { addWarmUp, type OpeningDurations } from './stage-durations.ts'
import type { WorkerAllocator } from './worker-allocator.ts'

/** Takes what several runs give at the same time, such as both sides of a comparison. A chunk is good until its sink resolves. */
export interface JointSink extends Meeting {
  /** In the order of the tasks. */
  readonly sinks: readonly TensorSink[]
}

/** What is known of one of the runs. */
export interface JointRun {
  readonly detail: Readonly<Record<string, string>>
  /** compile is null where a session of an equal model was still open. */
  readonly durationsMs: { readonly compile: number | null; readonly run: number }
  readonly warnings: readonly string[]
}

interface OpenRun {
  readonly acquired: AcquiredWorker<CaptureTask>
  readonly opened: Awaited<ReturnType<typeof openForCapture>>
  readonly durations: OpeningDurations
}

/** Runs all tasks at once, in one place among the workers. After a worker's death all of them run again, from the start. */
export function captureTogether(
  allocator: WorkerAllocator,
  tasks: readonly CaptureTask[],
  isolate: boolean,
  kept: KeptSessions,
  makeSink: () => JointSink,
): Promise<Done<readonly JointRun[]>> {
  return workTogether(allocator, tasks, isolate, (allAcquired, alone) =>
    openAll(allAcquired, alone ? null : kept, makeSink, []),
  )
}

/** Sessions are opened one after the other, and put away in the opposite order. */
async function openAll(
  [acquired, ...others]: readonly AcquiredWorker<CaptureTask>[],
  kept: KeptSessions | null,
  makeSink: () => JointSink,
  open: readonly OpenRun[],
): Promise<readonly JointRun[]> {
  if (!acquired) return runAll(open, makeSink())
  const { worker, task, progress } = acquired
  const opened = await blaming(acquired, () => openForCapture(worker, task, kept))
  let isHealthy = false
  try {
    const { session, warms } = opened.opened
    const warmUp = warms ? await blaming(acquired, () => worker.warm(session, task.inputs)) : null
    const durations = addWarmUp(opened.compileMs, warmUp)
    progress.stage = 'run'
    const runs = await openAll(others, kept, makeSink, [...open, { acquired, opened, durations }])
    isHealthy = true
    return runs
  } finally {
    await blaming(acquired, () => putAway(worker, task, opened.opened, isHealthy ? kept : null))
  }
}

async function runAll(open: readonly OpenRun[], joint: JointSink): Promise<readonly JointRun[]> {
  return doTogether(
    open.map((one, i) => () => runOne(one, joint.sinks[i]!)),
    joint,
  )
}

async function runOne({ acquired, opened: taken, durations }: OpenRun, sink: TensorSink): Promise<JointRun> {
  const { opened, capabilities } = taken
  const { worker, task } = acquired
  return blaming(acquired, async () => {
    refuseOutputs(task.target, capabilities, opened.outputs)
    const { durationMs, warnings = [] } = await worker.stream(opened.session, task.inputs, sink, logsFor(worker, task))
    return { detail: opened.detail, durationsMs: { compile: durations.compileMs, run: durationMs }, warnings }
  })
}
