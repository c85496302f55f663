import { metricAt } from '../../compare/convergence/logged-values.ts'
import { joinWords } from '../../compare/convergence/step-list.ts'
import type { Recording } from '../../domain/convergence.ts'
import { StageError } from '../../domain/errors.ts'
import { cleanText } from '../../domain/text.ts'
import type { WindowUnderTest } from './judge-replay.ts'
import { isHealthy, programError } from './program-error.ts'
import type { Replay } from './replay.ts'
import { seriesName } from './series-name.ts'
import { strangeValues } from './strange-values.ts'

/** What a replay logged, where it may stand for a reference: the program was well, and all is there and finite. */
export function wholeRecording({ entry, planned }: WindowUnderTest, replay: Replay): Recording {
  const { outcome, brokeAt, recording, seed } = replay
  const where = `the window from step ${entry.startStep}${seed === null ? '' : ` with seed ${seed}`}`
  if (!isHealthy(outcome)) {
    const { message, stage, side: _side, ...detail } = programError(replay)
    throw new StageError(stage, `${where}: ${message}`, { side: 'target', detail })
  }
  const metrics = Object.keys(planned.test.rules)
  const strange = strangeValues(recording, metrics)
  if (strange.length > 0) throw new StageError('run', `${where}: nothing can be compared with ${joinWords(strange)}`)
  if (brokeAt !== null) throw new StageError('run', `${where} is not finite at step ${brokeAt}`)
  const missing = metrics.flatMap((metric) => missingValues(entry.results, recording, metric))
  if (missing.length === 0) return recording
  const text = `${where} has no ${joinWords(missing)}`
  throw new StageError('run', `${text}; where they are gone for good, -g --start-over gathers anew`)
}

/** `loss of step 5` where the metric was not logged, `loss.penalty of step 5` where a label of it was not. */
function missingValues(before: Recording, recording: Recording, metric: string): string[] {
  return [...before.keys()].flatMap((step) => {
    const [known, now] = [metricAt(before, step, metric), metricAt(recording, step, metric)]
    if (!known) return []
    const labels = Object.keys(known)
    const names = now
      ? labels.filter((label) => !Object.hasOwn(now, label)).map((label) => seriesName(metric, label, labels.length))
      : [metric]
    return names.map((name) => `${cleanText(name, 60)} of step ${step}`)
  })
}
