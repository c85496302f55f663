import type { PairedTensor } from '../../compare/layers/paired-tensor.ts'
import type { TensorSpec } from '../../domain/tensor.ts'
import type { Side } from '../../domain/verdict.ts'
import type { MeasuredModelRun } from '../contract.ts'
import type { BesideParams, MeasureParams } from '../protocol/messages.ts'
import { type AcquiredWorker, blaming, type Done, workWithBlame } from './attempts.ts'
import { type CaptureTask, openForCapture } from './capture-task.ts'
import type { JointRun } from './joint-capture.ts'
import { putAway } from './kept-sessions.ts'
import { refuseOutputs } from './refuse.ts'
import type { WorkerAllocator } from './worker-allocator.ts'

/** What was measured where it was computed. */
export interface JointMeasurement {
  readonly tensors: readonly PairedTensor[]
  /** Of the reference and the target. */
  readonly runs: readonly JointRun[]
}

/** What is measured, and what the outputs of each side will be as far as that is known. */
export interface PairsAsked extends Omit<MeasureParams, 'shapes'> {
  readonly shapes: Readonly<Record<Side, readonly TensorSpec[]>>
}

/** Runs both sides one after the other in one worker, where what the second gives is measured against what the first gave. */
export function measureInOneWorker(
  allocator: WorkerAllocator,
  [reference, target]: readonly [CaptureTask, CaptureTask],
  { pairs, mask, shapes }: PairsAsked,
  isolate: boolean,
): Promise<Done<JointMeasurement>> {
  return workWithBlame(allocator, reference, isolate, async (worker, progress) => {
    const held = await runBeside({ worker, task: reference, progress }, { hold: true, shapes: shapes.reference })
    progress.stage = 'compile'
    const { run, measured } = await runBeside(
      { worker, task: target, progress },
      { pairs, mask, shapes: shapes.target },
    )
    return { tensors: measured, runs: [held.run, run] }
  })
}

/** One session at a time, so that the memory of one is free before the next takes its own. */
async function runBeside(
  acquired: AcquiredWorker<CaptureTask>,
  beside: BesideParams,
): Promise<{ readonly run: JointRun; readonly measured: MeasuredModelRun['measured'] }> {
  const { worker, task, progress } = acquired
  return blaming(acquired, async () => {
    const { opened, compileMs, capabilities } = await openForCapture(worker, task, null)
    progress.stage = 'run'
    try {
      refuseOutputs(task.target, capabilities, opened.outputs)
      const { durationMs, warnings = [], measured } = await worker.runBeside(opened.session, task.inputs, beside)
      return {
        run: { detail: opened.detail, durationsMs: { compile: compileMs, run: durationMs }, warnings },
        measured,
      }
    } finally {
      await putAway(worker, task, opened, null)
    }
  })
}
