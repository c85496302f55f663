import { StageError } from '../../domain/errors.ts'
import type { Case, Judgement, Lab, Suite } from '../../runs/contract.ts'
import type { Manifest, Sidecar } from './config/contract.ts'
import { doubtGathering, judgeDoubt } from './doubt-gathering.ts'
import { judgeReplay } from './judge-replay.ts'
import { type ConvergenceOptions, type PlannedTest, sourcePathOf } from './planned-test.ts'
import { renewWindow } from './renew-window.ts'
import { metricsOf, type WindowUnderTest } from './window-under-test.ts'

type Judge = (c: Case, lab: Lab) => Promise<Judgement>

/** Windows of training curves, each replayed from its checkpoint. */
export function convergenceSuite(options: ConvergenceOptions): Suite {
  return windowsSuite(options, (id, window, lab) => judgeReplay(id, window, lab, options))
}

/** Replays windows and takes what they give for the reference. */
export function renewalSuite(options: ConvergenceOptions): Suite {
  return windowsSuite(options, (id, window, lab) => renewWindow(id, window, lab, options))
}

function windowsSuite(
  { tests, isAlone, reproduce }: ConvergenceOptions,
  judge: (id: string, window: WindowUnderTest, lab: Lab) => Promise<Judgement>,
): Suite {
  const judges = new Map<string, Judge>()
  return {
    name: 'convergence',
    async *collect() {
      for (const planned of tests) {
        const whole = caseOf(planned, 'manifest', isAlone)
        if (!planned.storage.exists) {
          judges.set(whole.id, () => Promise.reject(notGathered(planned)))
          yield whole
          continue
        }
        const [manifest, sidecar] = [await planned.storage.manifest(), await planned.storage.sidecar()]
        const doubt = doubtGathering(manifest, sidecar)
        if (doubt !== null) {
          judges.set(whole.id, async () => judgeDoubt(doubt, planned, reproduce(whole.id)))
          yield whole
        }
        for (const window of windowsOf(planned, manifest, sidecar)) {
          const { startStep } = window.entry
          const c = { ...caseOf(planned, `ckpt_${startStep}`, isAlone), place: startStep }
          judges.set(c.id, (_, lab) => judge(c.id, window, lab))
          yield c
        }
      }
    },
    judge: (c, lab) => judges.get(c.id)!(c, lab),
  }
}

function windowsOf(planned: PlannedTest, manifest: Manifest, sidecar: Sidecar | null): WindowUnderTest[] {
  const entries = manifest.filter(({ results }) => results.size > 0)
  const recorded = metricsOf(entries)
  return entries.map((entry) => ({ planned, entry, sidecar, windows: entries.length, recorded }))
}

export function caseOf(planned: PlannedTest, scope: string, isAlone: boolean): Case {
  const { name } = planned.test
  const id = `${name}/${scope}`
  const sides = { reference: 'recorded', target: 'replayed' }
  const origin = planned.storage.shownManifest
  const source = sourcePathOf(planned)
  // Two programs that write one file would read each other's metrics.
  const exclusive = [...(isAlone ? ['training'] : []), ...(source === null ? [] : [source])]
  return { id, suite: 'convergence', model: name, scope, ...sides, origin, affinity: id, exclusive, aliases: [] }
}

function notGathered({ storage }: PlannedTest): StageError {
  return new StageError('discover', `${storage.shownManifest} is not there: gather it first, with -g`, {
    side: 'reference',
  })
}
