import { isFiniteNumber, metricAt, valueAt } from '../../compare/convergence/logged-values.ts'
import type { Recording } from '../../domain/convergence.ts'
import { cleanText } from '../../domain/text.ts'
import { seriesName } from './series-name.ts'

/** What nothing can be compared with, in words: `loss.main at step 5, which is "nan"`. */
export function strangeValues(recording: Recording, metrics: readonly string[]): string[] {
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
