import type { LoggedValues, Recording } from '../../../domain/convergence.ts'
import { StageError } from '../../../domain/errors.ts'
import { cleanText } from '../../../domain/text.ts'
import { metricAt } from '../curves/logged-values.ts'
import { joinWords, stepList } from '../curves/step-list.ts'
import { isHealthy, programError } from '../program-error.ts'
import type { Replay } from '../replay.ts'
import { seriesName } from '../series-name.ts'
import { strangeText } from '../strange-values.ts'
import type { WindowUnderTest } from '../window-under-test.ts'

/** The recording of a replay, if it can serve as a reference: the program succeeded, and all values are there and finite. */
export function wholeRecording({ entry, planned }: WindowUnderTest, replay: Replay): Recording {
  const { outcome, recording, seed } = replay
  const where = `the window from step ${entry.startStep}${seed === null ? '' : ` with seed ${seed}`}`
  if (!isHealthy(outcome)) {
    const { message, stage, side: _side, ...detail } = programError(replay)
    throw new StageError(stage, `${where}: ${message}`, { side: 'target', detail })
  }
  const metrics = Object.keys(planned.test.rules)
  const strange = strangeText([recording], metrics)
  if (strange !== null) throw new StageError('run', `${where}: ${strange}`)
  const missing = metrics.flatMap((metric) => missingValues(entry.results, recording, metric))
  if (missing.length === 0) return recording
  const text = `${where} has no ${joinWords(missing)}`
  throw new StageError('run', `${text}; if they are gone for good, gather again with -g --start-over`)
}

/** `loss of step 5` where the metric was not logged, `loss.penalty of steps 5 to 7` where a label of it was not. */
function missingValues(before: Recording, recording: Recording, metric: string): string[] {
  const missing = new Map<string, number[]>()
  for (const step of before.keys())
    for (const name of missingAt(metricAt(before, step, metric), metricAt(recording, step, metric), metric))
      missing.set(name, [...(missing.get(name) ?? []), step])
  return [...missing].map(([name, steps]) => `${cleanText(name, 60)} of ${stepList(steps)}`)
}

function missingAt(before: LoggedValues | undefined, now: LoggedValues | undefined, metric: string): string[] {
  if (!before || !now) return before ? [metric] : []
  const labels = Object.keys(before)
  return labels.filter((label) => !Object.hasOwn(now, label)).map((label) => seriesName(metric, label, labels.length))
}
