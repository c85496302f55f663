import { StageError } from '../../domain/errors.ts'
import type { Lab } from '../../runs/contract.ts'
import { type GatherPoint, gatherPoint } from './gather/gather-point.ts'
import type { PlannedTest } from './planned-test.ts'
import { settledReplay } from './settled-replay.ts'
import { listMetrics } from './window-under-test.ts'

/**
 * Where an interrupted gathering goes on. A program that does the last step of its checkpoint again would record other
 * numbers from there on, and may save over that checkpoint, so what was recorded of its window is replayed first.
 */
export async function settledPoint(planned: PlannedTest, startOver: boolean, lab: Lab): Promise<GatherPoint | null> {
  const from = await gatherPoint(planned, startOver)
  if (!from || !isOpen(planned, from)) return from
  const entry = { ...from.reopens, checkpoint: from.reach.checkpointInput }
  const window = { planned, entry, sidecar: null, windows: 1, recorded: listMetrics([entry]) }
  const { resumeAt, replays } = await settledReplay(window, { checkpointInput: entry.checkpoint, seed: null }, lab)
  if (resumeAt === 'last_step' && replays > 1) throw cannotGoOn(from)
  return gatherPoint(planned, startOver, resumeAt)
}

/** Neither said nor learnt. */
function isOpen({ test }: PlannedTest, { lastStep, reopens, resumeAt }: GatherPoint): boolean {
  return test.resumeAt === null && resumeAt === null && lastStep !== null && reopens.results.size > 0
}

function cannotGoOn({ reopens: { startStep } }: GatherPoint): StageError {
  const what = `from step ${startStep} the program repeats that step, which its checkpoint already has`
  const text = `${what}, and it does not begin with step ${startStep + 1}, so it would record something else`
  return new StageError('run', `${text}; gather again with --start-over`, { side: 'reference' })
}
