import type { LoggedValues, Recording } from '../../../domain/convergence.ts'
import { parseNumber } from './parse-number.ts'

/** Names come from configurations and logs: `constructor` is a metric like any other. */
function own<T>(record: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return record !== undefined && Object.hasOwn(record, name) ? record[name] : undefined
}

export function metricAt(recording: Recording, step: number, metric: string): LoggedValues | undefined {
  return own(recording.get(step), metric)
}

/** A number, the text of what is none, or undefined where nothing was logged. */
export function valueAt(
  recording: Recording,
  step: number,
  { metric, label }: { metric: string; label: string },
): number | string | undefined {
  const text = own(metricAt(recording, step, metric), label)
  return text === undefined ? undefined : (parseNumber(text) ?? text)
}

export function isFiniteNumber(value: number | string | undefined): value is number {
  return typeof value === 'number' && Number.isFinite(value)
}
