import { SkipCase, StageError } from '../../domain/errors.ts'
import type { DecodeRequest, DecodeStep } from '../contract.ts'
import { type AcquiredWorker, blaming, type Done, type Task, workTogether } from './attempts.ts'
import { type KeptSessions, openOrTake, putAway, type SessionRequest } from './kept-sessions.ts'
import { refuseFormat, refuseTaps } from './refuse.ts'
import { addWarmUp, type OpeningDurations } from './stage-durations.ts'
import type { WorkerAllocator } from './worker-allocator.ts'

export interface DecodeTask extends Task, SessionRequest {
  readonly request: DecodeRequest
}

/** One target that decodes; each pull is one step. */
export interface Decoding extends OpeningDurations {
  readonly steps: AsyncGenerator<DecodeStep, void>
  readonly detail: Readonly<Record<string, string>>
  /** Peak memory of its worker so far; null: unknown. */
  peakBytes(): number | null
}

export type DecodeOutcome<T> = Done<T>

/** Opens a session of every task and lets `follow` pull their steps. */
export async function decodeTogether<T>(
  allocator: WorkerAllocator,
  tasks: readonly DecodeTask[],
  isolate: boolean,
  kept: KeptSessions,
  follow: (decodings: readonly Decoding[]) => Promise<T>,
): Promise<DecodeOutcome<T>> {
  return workTogether(allocator, tasks, isolate, (allAcquired, alone) =>
    decodeWith(allAcquired, alone ? null : kept, follow),
  )
}

/** Sessions are opened one after the other, and put away in the opposite order. */
async function decodeWith<T>(
  [acquired, ...others]: readonly AcquiredWorker<DecodeTask>[],
  kept: KeptSessions | null,
  follow: (decodings: readonly Decoding[]) => Promise<T>,
): Promise<T> {
  if (!acquired) return follow([])
  const { worker, task, progress } = acquired
  const { opened, compileMs } = await blaming(acquired, () => {
    refuseDecoding(acquired)
    return openOrTake(worker, task, kept)
  })
  const course = { isWhole: false }
  const steps = stepsOf(acquired, opened.session, course)
  try {
    const warm = () => worker.warmDecoding(opened.session, task.request)
    const durations = addWarmUp(compileMs, opened.warms ? await blaming(acquired, warm) : null)
    progress.stage = 'run'
    const decoding = { steps, detail: opened.detail, ...durations, peakBytes: () => worker.peakBytes }
    return await decodeWith(others, kept, (decodings) => follow([decoding, ...decodings]))
  } finally {
    await steps.return()
    // One that was left in the middle still holds its key-value cache.
    await blaming(acquired, () => putAway(worker, task, opened, course.isWhole ? kept : null))
  }
}

function refuseDecoding({ worker: { probe }, task: { target, model, taps } }: AcquiredWorker<DecodeTask>): void {
  if (!probe.available) throw new StageError('compile', probe.reason)
  refuseFormat(probe, model)
  if (!probe.capabilities.decode) throw new SkipCase(`${target.name} cannot decode`)
  if (taps) refuseTaps(target, probe.capabilities)
}

async function* stepsOf(
  acquired: AcquiredWorker<DecodeTask>,
  session: number,
  course: { isWhole: boolean },
): AsyncGenerator<DecodeStep, void> {
  const steps = acquired.worker.decode(session, acquired.task.request)
  try {
    for (;;) {
      const next = await blaming(acquired, () => steps.next())
      if (next.done) break
      yield next.value
    }
    course.isWhole = true
  } finally {
    await steps.return()
  }
}
