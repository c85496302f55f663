import { StageError } from '../../../domain/errors.ts'
import type { Lab } from '../../../runs/contract.ts'
import { replayAll } from '../judge-replay.ts'
import type { PlannedTest } from '../planned-test.ts'
import { listMetrics, type WindowUnderTest } from '../window-under-test.ts'
import { wholeRecording } from './whole-recording.ts'

/** Replays every window with the seeds that it lacks, to learn the normal noise; saved after each. */
export async function gatherSamples(planned: PlannedTest, seeds: readonly number[], lab: Lab): Promise<void> {
  const { storage } = planned
  const [manifest, sidecar] = [await storage.manifest(), await storage.sidecar()]
  if (!planned.test.flags.run.seed) return
  for (const entry of manifest) {
    const known = sidecar?.checkpoints[entry.startStep]?.samples ?? []
    const lacking = seeds.filter((seed) => known.every((sample) => sample.seed !== seed))
    const window = { planned, entry, sidecar, windows: 1, recorded: listMetrics(manifest) }
    for (const seed of lacking) await sampleWindow(window, [seed], lab)
  }
}

export async function sampleWindow(window: WindowUnderTest, seeds: readonly number[], lab: Lab): Promise<void> {
  const { planned, entry } = window
  const replays = await replayAll(window, lab, seeds)
  const samples = replays.map((replay) => ({ seed: replay.seed!, results: wholeRecording(window, replay) }))
  await planned.storage.change((manifest, sidecar) => {
    if (!sidecar) throw new StageError('run', 'a manifest from another tool has no place for seeds; gather it with -g')
    const known = sidecar.checkpoints[entry.startStep]!
    const others = known.samples.filter(({ seed }) => !seeds.includes(seed))
    const facts = { ...known, samples: [...others, ...samples] }
    return [manifest, { ...sidecar, checkpoints: { ...sidecar.checkpoints, [entry.startStep]: facts } }]
  })
}
