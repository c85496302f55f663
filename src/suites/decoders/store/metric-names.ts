import { createHash } from 'node:crypto'
import { type MetricPrefix, parsePrefix } from '../../../files/formats/metric-prefix.ts'
import { METRICS, type MetricName } from '../gates/contract.ts'

export interface MetricFileName extends MetricPrefix {
  readonly metric: MetricName
}

export function parseMetricName(name: string): MetricFileName | null {
  const [, prefix = '', word = ''] = /^(.+)\.(\w+)\.csv$/s.exec(name) ?? []
  const metric = (Object.keys(METRICS) as MetricName[]).find((known) => known === word)
  const parsed = parsePrefix(prefix)
  return metric && parsed ? { ...parsed, metric } : null
}

/**
 * How later versions of the documented tool name their files: a sha256 of all that is set, and their version. Names
 * cannot be read back from it.
 */
export function hashedPrefix(
  fields: Readonly<Record<string, unknown>>,
  version: string,
): { readonly string: string; readonly prefix: string } {
  const isSet = (value: unknown) => (Array.isArray(value) ? value.length > 0 : Boolean(value))
  const pairs = Object.entries(fields).filter(([, value]) => isSet(value))
  const words = pairs
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key.replaceAll('_', '-')}-${String(value).replaceAll('/', '--')}`)
  const string = words.join('_')
  return { string, prefix: `${createHash('sha256').update(string).digest('hex')}_${version}` }
}
