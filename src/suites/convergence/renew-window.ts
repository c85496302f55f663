import type { Recording } from '../../domain/convergence.ts'
import type { Judgement, Lab } from '../../runs/contract.ts'
import type { GitState, Sidecar } from './config/contract.ts'
import { sampleWindow } from './gather/gather-samples.ts'
import { wholeRecording } from './gather/whole-recording.ts'
import { replayAll } from './judge-replay.ts'
import { describeReplays } from './judge-replays.ts'
import { NOTHING_COMPARED } from './nothing-compared.ts'
import type { ConvergenceOptions } from './planned-test.ts'
import { renewalChanges } from './renewal-changes.ts'
import type { WindowUnderTest } from './window-under-test.ts'

/** Replays a window and puts what it gave into the manifest; a replay that is not whole is never taken. */
export async function renewWindow(
  window: WindowUnderTest,
  lab: Lab,
  { seeds, git }: Pick<ConvergenceOptions, 'seeds' | 'git'>,
): Promise<Judgement> {
  const { planned, entry } = window
  const state = await git(planned.cwd)
  const [replay] = await replayAll(window, lab, [])
  const results = renewed(entry.results, wholeRecording(window, replay!))
  await planned.storage.change((manifest, sidecar) => [
    manifest.map((other) => (other.startStep === entry.startStep ? { ...other, results } : other)),
    sidecar && renewedSidecar(sidecar, entry.startStep, state),
  ])
  if (seeds.length > 0 && planned.test.flags.run.seed)
    await sampleWindow({ ...window, entry: { ...entry, results } }, seeds, lab)
  const changes = renewalChanges(entry.results, results)
  return {
    verdict: 'captured',
    ...NOTHING_COMPARED,
    figures: [
      ...(changes.length > 0 ? changes : ['same as recorded']),
      ...forgotten(window, seeds),
      ...describeReplays([replay!]),
    ],
    measurements: { 'target.command': replay!.argv.join(' ') },
  }
}

/** Metrics without a rule were not replayed and stay as recorded. */
function renewed(before: Recording, replayed: Recording): Recording {
  return new Map([...before].map(([step, metrics]) => [step, { ...metrics, ...replayed.get(step) }]))
}

/** Drops the samples of other seeds, which belong to the old recording. */
function renewedSidecar(sidecar: Sidecar, startStep: number, git: GitState | null): Sidecar {
  const facts = sidecar.checkpoints[startStep]
  const renewal = { at: new Date().toISOString(), startSteps: [startStep], git }
  return {
    ...sidecar,
    checkpoints: { ...sidecar.checkpoints, ...(facts && { [startStep]: { ...facts, samples: [] } }) },
    renewals: [...sidecar.renewals, renewal],
  }
}

function forgotten({ entry, sidecar }: WindowUnderTest, seeds: readonly number[]): string[] {
  const samples = sidecar?.checkpoints[entry.startStep]?.samples.length ?? 0
  if (samples === 0 || seeds.length > 0) return []
  return [
    `its ${samples} samples of other seeds no longer belong to this program and were dropped; --seeds gathers new ones`,
  ]
}
