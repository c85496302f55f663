import { StageError } from '../../domain/errors.ts'
import type { Trace, ValueSpec } from '../../domain/tensor.ts'
import type { Capabilities, RuntimeInfo } from '../contract.ts'
import type { Task } from './attempts.ts'
import { type KeptSessions, openOrTake, type SessionRequest, type TakenSession } from './kept-sessions.ts'
import { refuseFormat, refuseInputs, refuseOutputs, refuseTaps } from './refuse.ts'
import type { Worker } from './worker-allocator.ts'

/** A model to be run once on some inputs. */
export interface CaptureTask extends Task, SessionRequest {
  readonly inputs: Trace
  /** Outputs as far as they are known before the model is opened: what the worker cannot give is skipped. */
  readonly expects?: readonly ValueSpec[]
}

interface OpenTask extends TakenSession {
  readonly capabilities: Capabilities
}

/** Refuses what the worker cannot do, as far as that is known, and opens the model. */
export async function openForCapture(worker: Worker, task: CaptureTask, kept: KeptSessions | null): Promise<OpenTask> {
  const { target, inputs, expects = [], taps } = task
  const { capabilities } = refuseAbsent(worker, task)
  if (taps) refuseTaps(target, capabilities)
  refuseInputs(target, capabilities, inputs)
  refuseOutputs(target, capabilities, expects)
  return { capabilities, ...(await openOrTake(worker, task, kept)) }
}

export function refuseAbsent({ probe }: Worker, { target, side, model }: Task & SessionRequest): RuntimeInfo {
  if (!probe.available) throw new StageError('compile', `${target.name}: ${probe.reason}`, { side })
  refuseFormat(probe, model)
  return probe
}
