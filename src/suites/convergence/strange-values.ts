import type { Recording } from '../../domain/convergence.ts'
import { cleanText } from '../../domain/text.ts'
import { isFiniteNumber, metricAt, valueAt } from './curves/logged-values.ts'
import { joinWords } from './curves/step-list.ts'
import { seriesName } from './series-name.ts'

const SHOWN = 3

/** Null: all can be compared with. */
export function strangeText(recordings: readonly Recording[], metrics: readonly string[]): string | null {
  const strange = [...new Set(recordings.flatMap((recording) => strangeValues(recording, metrics)))]
  const more = strange.length > SHOWN ? [`${strange.length - SHOWN} more`] : []
  return strange.length === 0
    ? null
    : `nothing can be compared with ${joinWords([...strange.slice(0, SHOWN), ...more])}`
}

/** `loss.main at step 5, which is "nan"` */
function strangeValues(recording: Recording, metrics: readonly string[]): string[] {
  return metrics.flatMap((metric) => [...recording.keys()].flatMap((step) => strangeAt(recording, step, metric)))
}

function strangeAt(recording: Recording, step: number, metric: string): string[] {
  const values = Object.entries(metricAt(recording, step, metric) ?? {})
  const strange = values.filter(([label]) => !isFiniteNumber(valueAt(recording, step, { metric, label })))
  return strange.map(([label, text]) => {
    const name = cleanText(seriesName(metric, label, values.length), 60)
    return `${name} at step ${step}, which is ${JSON.stringify(cleanText(text, 40))}`
  })
}
