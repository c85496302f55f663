import { cpSync } from 'node:fs'
import type { Result } from '../../../domain/result.ts'
import type { Suite } from '../../../runs/contract.ts'
import { executeRun, type RunRequest } from '../../../runs/execute/execute.ts'
import { freshFolder, runRequest } from '../../../runs/testing/tiny-suite.ts'
import { type GatherOptions, gatherSuite } from '../gather/gather-suite.ts'
import type { ConvergenceOptions, PlannedTest } from '../planned-test.ts'
import { convergenceSuite, renewalSuite } from '../suite.ts'
import type { ConfigChange } from './demo-training.ts'
import { demoPlan } from './demo-window.ts'

function optionsOf(planned: PlannedTest, more: Partial<GatherOptions>): GatherOptions {
  return {
    tests: [planned],
    seeds: [],
    isAlone: true,
    environment: { node: process.version },
    git: async () => null,
    startOver: false,
    ...more,
  }
}

/** Judges with a real lab; the record lies in a folder of its own. */
async function judged(suite: Suite, more: Partial<RunRequest>): Promise<readonly Result[]> {
  return (await executeRun(runRequest(freshFolder(), suite, more))).results
}

export async function gatherDemo(planned: PlannedTest, more: Partial<GatherOptions> = {}): Promise<Result> {
  const [result] = await judged(gatherSuite(optionsOf(planned, more)), {})
  return result!
}

/** `only`: words of ids, as after `-k`. */
export function replayDemo(planned: PlannedTest, more: Partial<ConvergenceOptions> = {}, only?: string) {
  return judged(convergenceSuite(optionsOf(planned, more)), selecting(only))
}

export function renewDemo(planned: PlannedTest, more: Partial<ConvergenceOptions> = {}, only?: string) {
  return judged(renewalSuite(optionsOf(planned, more)), selecting(only))
}

function selecting(keyword: string | undefined): Partial<RunRequest> {
  return keyword === undefined ? {} : { select: { keyword } }
}

/** `demo/ckpt_3 pass` */
export function listVerdicts(results: readonly Result[]): string[] {
  return results.map(({ id, verdict }) => `${id} ${verdict}`)
}

/** A copy of what was gathered, in a folder of its own with its own copy of the program. */
export async function copyTest(planned: PlannedTest, changes: readonly ConfigChange[] = []): Promise<PlannedTest> {
  const copy = await demoPlan(changes)
  cpSync(planned.storage.folder, copy.storage.folder, { recursive: true })
  return copy
}
