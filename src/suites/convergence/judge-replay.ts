import { writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { StageError } from '../../domain/errors.ts'
import { toJson } from '../../domain/json.ts'
import type { Judgement, Lab } from '../../runs/contract.ts'
import { locateCheckpoint } from './config/checkpoint-path.ts'
import type { WindowJudgement } from './curves/contract.ts'
import { compareReplays, judgeReplays } from './judge-replays.ts'
import type { ConvergenceOptions, PlannedTest } from './planned-test.ts'
import { isHealthy } from './program-error.ts'
import type { Replay } from './replay.ts'
import { settledReplay } from './settled-replay.ts'
import { checkpointSum } from './storage/checkpoint-sum.ts'
import { readCheckpointFacts, type WindowUnderTest } from './window-under-test.ts'

/** Replays a window from its checkpoint and compares all that was recorded. */
export async function judgeReplay(
  window: WindowUnderTest,
  lab: Lab,
  { seeds }: Pick<ConvergenceOptions, 'seeds'>,
): Promise<Judgement> {
  const replays = await replayAll(window, lab, seeds)
  const judged = compareReplays(window, replays)
  await keepCurves(lab, judged, replays.length)
  return judgeReplays(window, replays, judged, seeds)
}

/** Replays each seed once, after checking that the checkpoint is the one that was gathered. */
export async function replayAll(window: WindowUnderTest, lab: Lab, seeds: readonly number[]): Promise<Replay[]> {
  const { planned, entry } = window
  const checkpointInput = await locateCheckpoint(planned.storage.manifestPath, entry.checkpoint)
  await checkCheckpoint(checkpointInput, window, lab)
  const replays: Replay[] = []
  for (const seed of usableSeeds(planned, seeds)) {
    replays.push(await settledReplay(window, { checkpointInput, seed }, lab))
    if (!isHealthy(replays.at(-1)!.outcome)) break
  }
  return replays
}

/** A program that takes no seed is replayed once. */
export function usableSeeds({ test }: PlannedTest, seeds: readonly number[]): readonly (number | null)[] {
  return seeds.length > 0 && test.flags.run.seed ? seeds : [null]
}

async function checkCheckpoint(path: string, window: WindowUnderTest, lab: Lab): Promise<void> {
  const facts = readCheckpointFacts(window)
  if (!window.sidecar) return
  if (!facts) throw strangeWindow(window)
  await lab.step({ title: 'check the checkpoint', stage: 'inputs', key: null }, async () => {
    const { bytes, sha256 } = await checkpointSum(path)
    if (sha256 === facts.sha256) return
    const size = bytes === facts.bytes ? 'of the same size' : `${bytes} bytes instead of ${facts.bytes}`
    const text = `${window.entry.checkpoint} is not the checkpoint that was gathered (${size})`
    throw new StageError('inputs', `${text}; put it back, or gather again`, { side: 'reference' })
  })
}

function strangeWindow({ planned, entry }: WindowUnderTest): StageError {
  const name = basename(planned.storage.sidecarPath)
  const text = `${name} does not know ckpt_${entry.startStep}, so it belongs to another gathering`
  return new StageError('inputs', `${text}; put back the one that belongs to the manifest, or remove it`, {
    side: 'reference',
  })
}

async function keepCurves(lab: Lab, { series }: WindowJudgement, replays: number): Promise<void> {
  const { folder } = await lab.step({ title: 'write the curves', stage: 'compare', key: null }, async (folder) => {
    const points = series.map(({ name, rule, verdict, points, noise }) => ({ name, rule, verdict, points, noise }))
    await writeFile(join(folder, 'curves.json'), toJson({ schema: 'assay/curves@1', replays, series: points }))
  })
  await lab.keep('curves.json', join(folder, 'curves.json'))
}
