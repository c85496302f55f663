import { StageError } from '../../../domain/errors.ts'
import { cleanText } from '../../../domain/text.ts'
import type { Manifest, ManifestEntry } from '../config/contract.ts'
import type { PlannedTest } from '../planned-test.ts'
import { strangeText } from '../strange-values.ts'
import { listMetrics } from '../window-under-test.ts'

/** Recordings that no replay could be judged by. */
export function refuseUseless(planned: PlannedTest, manifest: Manifest): void {
  refuseUnseen(planned, manifest)
  refuseOverwritten(manifest)
  refuseStrange(planned, manifest)
}

/** A program that saves over its last checkpoint leaves nothing to replay the earlier windows from. */
export function refuseOverwritten(saves: readonly Pick<ManifestEntry, 'checkpoint' | 'startStep'>[]): void {
  for (const { checkpoint, startStep } of saves) {
    const later = saves.find((entry) => entry.checkpoint === checkpoint && entry.startStep > startStep)
    if (!later) continue
    const text = `${cleanText(checkpoint, 300)} was saved at step ${startStep} and again at step ${later.startStep}`
    throw new StageError('run', `${text}; every save needs a file of its own`)
  }
}

/** Metrics that no step of any recording has. */
function refuseUnseen(planned: PlannedTest, manifest: Manifest): void {
  const seen = listMetrics(manifest)
  const missing = Object.keys(planned.test.rules).filter((metric) => !seen.has(metric))
  if (missing.length === 0) return
  const text = `no line with a step number has ${missing.map((name) => `the metric "${name}"`).join(' or ')}`
  throw new StageError('run', `${text}; see log_parsing in the configuration, and program.log for what was printed`)
}

/** Values of metrics with a rule that nothing can be compared with. */
function refuseStrange({ test }: PlannedTest, manifest: Manifest): void {
  const results = manifest.map((entry) => entry.results)
  const text = strangeText(results, Object.keys(test.rules))
  if (text === null) return
  throw new StageError('run', `${text}; fix the program or log_parsing, then gather again with --start-over`)
}
