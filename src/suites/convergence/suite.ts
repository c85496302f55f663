import { StageError } from '../../domain/errors.ts'
import type { Case, Judgement, Lab, Suite } from '../../runs/contract.ts'
import type { Manifest, Sidecar } from './config/contract.ts'
import { doubtGathering, judgeDoubt } from './doubt-gathering.ts'
import { judgeReplay } from './judge-replay.ts'
import { type ConvergenceOptions, findSourcePath, type PlannedTest } from './planned-test.ts'
import { renewWindow } from './renew-window.ts'
import { listMetrics, type WindowUnderTest } from './window-under-test.ts'

/** A window to replay, or a problem of all windows. */
interface TrainingCase extends Case {
  readonly judge: (lab: Lab) => Promise<Judgement>
}

/** Windows of training curves, each replayed from its checkpoint. */
export function convergenceSuite(options: ConvergenceOptions): Suite<TrainingCase> {
  return windowsSuite(options, (window, lab) => judgeReplay(window, lab, options))
}

/** Replays windows and makes the result the reference. */
export function renewalSuite(options: ConvergenceOptions): Suite<TrainingCase> {
  return windowsSuite(options, (window, lab) => renewWindow(window, lab, options))
}

function windowsSuite(
  { tests, isAlone }: ConvergenceOptions,
  judge: (window: WindowUnderTest, lab: Lab) => Promise<Judgement>,
): Suite<TrainingCase> {
  return {
    name: 'convergence',
    async *collect() {
      for (const planned of tests) {
        const whole = makeCase(planned, 'manifest', isAlone)
        if (!planned.storage.exists) {
          yield { ...whole, judge: () => Promise.reject(notGathered(planned)) }
          continue
        }
        const [manifest, sidecar] = [await planned.storage.manifest(), await planned.storage.sidecar()]
        const doubt = doubtGathering(manifest, sidecar)
        if (doubt !== null) yield { ...whole, judge: async () => judgeDoubt(doubt, planned) }
        for (const window of windowsOf(planned, manifest, sidecar)) {
          const { startStep } = window.entry
          const c = makeCase(planned, `ckpt_${startStep}`, isAlone)
          yield { ...c, place: startStep, judge: (lab) => judge(window, lab) }
        }
      }
    },
    judge: (c, lab) => c.judge(lab),
  }
}

function windowsOf(planned: PlannedTest, manifest: Manifest, sidecar: Sidecar | null): WindowUnderTest[] {
  const entries = manifest.filter(({ results }) => results.size > 0)
  const recorded = listMetrics(entries)
  return entries.map((entry) => ({ planned, entry, sidecar, windows: entries.length, recorded }))
}

export function makeCase(planned: PlannedTest, scope: string, isAlone: boolean): Case {
  const { name } = planned.test
  const id = `${name}/${scope}`
  const sides = { reference: 'recorded', target: 'replayed' }
  const origin = planned.storage.shownManifest
  const source = findSourcePath(planned)
  // Two programs that write one file would read each other's metrics.
  const exclusive = [...(isAlone ? ['training'] : []), ...(source === null ? [] : [source])]
  return { id, suite: 'convergence', model: name, scope, ...sides, origin, affinity: id, exclusive, aliases: [] }
}

function notGathered({ storage }: PlannedTest): StageError {
  return new StageError('discover', `${storage.shownManifest} is not there: gather it first, with -g`, {
    side: 'reference',
  })
}
