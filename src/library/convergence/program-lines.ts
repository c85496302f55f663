import { join } from 'node:path'
import { gatherArgv, replayArgv } from '../../files/convergence/program-argv.ts'
import type { PlannedTest } from '../../suites/convergence/planned-test.ts'
import { replayReach } from '../../suites/convergence/replay-window.ts'
import type { Audience } from '../judge-suites.ts'
import { type ConvergeInvocation, plannedTests } from './converge-invocation.ts'
import { listConvergence } from './judge-convergence.ts'

/** How a program of a case would be started. */
export interface ProgramLine {
  readonly id: string
  readonly cwd: string
  readonly argv: readonly string[]
}

/** Of the cases that are chosen; nothing is started. */
export async function programLines(invocation: ConvergeInvocation, notice: Audience['notice']): Promise<ProgramLine[]> {
  const { cwd, converge } = invocation
  const { selected } = await listConvergence(invocation, notice)
  const tests = await plannedTests(cwd, converge, { notice: () => {} })
  const lines = await Promise.all(
    tests.map((test) => (converge.gather ? gatherLine(test) : replayLines(test, converge.seeds))),
  )
  return lines.flat().filter(({ id }) => selected.includes(id))
}

function gatherLine({ test, cwd, storage }: PlannedTest): ProgramLine[] {
  return [{ id: `${test.name}/gather`, cwd, argv: gatherArgv(test, { checkpointOutput: storage.checkpoints }) }]
}

async function replayLines({ test, cwd, storage }: PlannedTest, seeds: readonly number[]): Promise<ProgramLine[]> {
  if (!storage.exists) return []
  const manifest = await storage.manifest()
  return manifest.flatMap((entry) =>
    (seeds.length > 0 ? seeds : [null]).map((seed) => {
      const checkpointInput = join(storage.folder, entry.checkpoint)
      const argv = replayArgv(test, { ...replayReach(test, entry), checkpointInput, seed })
      return { id: `${test.name}/ckpt_${entry.startStep}`, cwd, argv }
    }),
  )
}
