import { join } from 'node:path'
import type { LogEvent } from '../../../domain/convergence.ts'
import type { Lab } from '../../../runs/contract.ts'
import { gatherArgv, resumeArgv } from '../config/program-argv.ts'
import type { PlannedTest } from '../planned-test.ts'
import type { ProgramOutcome } from '../program/contract.ts'
import { runProgram } from '../program/run-program.ts'
import { planProgram } from '../replay.ts'
import type { GatherPoint } from './gather-point.ts'
import { type Provenance, RecordingWriter } from './recording-writer.ts'

export interface Gathered {
  readonly argv: readonly string[]
  readonly outcome: ProgramOutcome
  /** Saves after which nothing was logged. */
  readonly empty: readonly string[]
  /** False if there was nothing to write, so earlier files stay. */
  readonly isWritten: boolean
}

/** Runs the program to its end and saves every recording as soon as it is complete. */
export async function gather(
  planned: PlannedTest,
  from: GatherPoint | null,
  provenance: Provenance,
  lab: Lab,
): Promise<Gathered> {
  const { test, storage } = planned
  const checkpointOutput = storage.checkpoints
  const argv = from ? resumeArgv(test, { ...from.reach, checkpointOutput }) : gatherArgv(test, { checkpointOutput })
  const { value, folder } = await lab.step(
    { title: `gather ${test.name}`, stage: 'run', key: null },
    async (folder) => {
      const writer = new RecordingWriter(planned, from, provenance, argv)
      const onEvents = (events: readonly LogEvent[]) => {
        for (const event of events) writer.take(event)
        lab.progress(writer.progress)
        return true
      }
      const outcome = await runProgram({ ...planProgram(planned, folder), argv, signal: lab.signal, onEvents })
      await writer.close(outcome.ending === 'exited' && outcome.exitCode === 0)
      return { argv, outcome, empty: writer.empty, isWritten: writer.isWritten }
    },
  )
  await lab.keep('program.log', join(folder, 'program.log'))
  return value
}
