import { StageError, UsageError } from '../../domain/errors.ts'
import { locateCheckpoint } from '../../suites/convergence/config/checkpoint-path.ts'
import { gatherArgv, replayArgv, resumeArgv } from '../../suites/convergence/config/program-argv.ts'
import { gatherPoint, lacksOnlySeeds } from '../../suites/convergence/gather/gather-point.ts'
import { usableSeeds } from '../../suites/convergence/judge-replay.ts'
import { type PlannedTest, startOf } from '../../suites/convergence/planned-test.ts'
import { replayReach } from '../../suites/convergence/replay-window.ts'
import type { RunListeners } from '../judge-suites.ts'
import { type ConvergeInvocation, plannedTests } from './converge-invocation.ts'
import { listConvergence } from './judge-convergence.ts'

/** How a program of a case would be started, or why it would not be. */
export type ProgramLine =
  | { readonly id: string; readonly cwd: string; readonly argv: readonly string[] }
  | { readonly id: string; readonly problem: string }

/** Of the cases that are chosen; nothing is started. */
export async function programLines(
  invocation: ConvergeInvocation,
  notice: RunListeners['notice'],
): Promise<ProgramLine[]> {
  const { converge } = invocation
  const { selected } = await listConvergence(invocation, notice)
  const tests = await plannedTests(invocation, converge, { notice: () => {} })
  const lines = await Promise.all(
    tests.map((test) => (converge.gather ? gatherLines(test, converge) : replayLines(test, converge.seeds))),
  )
  return lines.flat().filter(({ id }) => selected.includes(id))
}

type Asked = Pick<ConvergeInvocation['converge'], 'seeds' | 'startOver'>

/** Training, unless it is complete; windows that are there with every seed. */
async function gatherLines(planned: PlannedTest, { seeds, startOver }: Asked): Promise<ProgramLine[]> {
  const id = `${planned.test.name}/gather`
  if (!startOver && (await lacksOnlySeeds(planned, seeds))) {
    return (await replayLines(planned, seeds)).map((line) => ({ ...line, id }))
  }
  return [await lineOf(id, planned, () => trainingArgv(planned, startOver))]
}

async function trainingArgv(planned: PlannedTest, startOver: boolean): Promise<string[]> {
  const { test, storage } = planned
  const from = await gatherPoint(planned, startOver)
  const checkpointOutput = storage.checkpoints
  return from ? resumeArgv(test, { ...from.reach, checkpointOutput }) : gatherArgv(test, { checkpointOutput })
}

async function replayLines(planned: PlannedTest, seeds: readonly number[]): Promise<ProgramLine[]> {
  const { test, storage } = planned
  if (!storage.exists) return []
  const windows = (await storage.manifest()).filter(({ results }) => results.size > 0)
  const lines = windows.flatMap((entry) =>
    usableSeeds(planned, seeds).map((seed) =>
      lineOf(`${test.name}/ckpt_${entry.startStep}`, planned, async () => {
        const checkpointInput = await locateCheckpoint(storage.manifestPath, entry.checkpoint)
        return replayArgv(test, { ...replayReach(test, entry, await startOf(planned)), checkpointInput, seed })
      }),
    ),
  )
  return Promise.all(lines)
}

async function lineOf(id: string, { cwd }: PlannedTest, argvOf: () => Promise<string[]>): Promise<ProgramLine> {
  try {
    return { id, cwd, argv: await argvOf() }
  } catch (error) {
    if (error instanceof StageError || error instanceof UsageError) return { id, problem: error.message }
    throw error
  }
}
