import { StageError } from '../../domain/errors.ts'
import type { Judgement } from '../../runs/contract.ts'
import type { Manifest, Sidecar } from './config/contract.ts'
import { joinWords } from './curves/step-list.ts'
import { NOTHING_COMPARED } from './nothing-compared.ts'
import type { PlannedTest } from './planned-test.ts'

/** A problem of the manifest as a whole: an error, or why it proves less. Manifests of other tools are not checked. */
export function doubtGathering(manifest: Manifest, sidecar: Sidecar | null): StageError | string | null {
  if (sidecar === null) return null
  if (!sidecar.complete)
    return 'gathering did not finish, so windows may be missing; the same command with -g continues it'
  const present = new Set(manifest.filter(({ results }) => results.size > 0).map(({ startStep }) => String(startStep)))
  const lost = Object.keys(sidecar.checkpoints).filter((startStep) => !present.has(startStep))
  if (lost.length === 0) return null
  const windows = joinWords(lost.map((startStep) => `ckpt_${startStep}`))
  const text = `the manifest has lost the steps of ${windows}, gathered ${sidecar.gatheredAt}`
  return new StageError('discover', `${text}; put it back, or gather again with --start-over`, { side: 'reference' })
}

/** The windows that exist may pass, but others are missing. */
export function judgeDoubt(doubt: StageError | string, { storage }: PlannedTest): Judgement {
  if (doubt instanceof StageError) throw doubt
  return {
    verdict: 'inconclusive',
    reason: doubt,
    ...NOTHING_COMPARED,
    flags: ['incomplete-gathering'],
    measurements: { 'reference.manifest': storage.shownManifest },
  }
}
