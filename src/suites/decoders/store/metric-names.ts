import { createHash } from 'node:crypto'
import { UsageError } from '../../../domain/errors.ts'
import { METRICS, type MetricName } from '../gates/contract.ts'

/** What a file of metrics was measured with. */
export interface MetricShape {
  readonly newTokens: number
  readonly batchSize: number
  readonly promptLength: number
  readonly dtype: string
}

export interface MetricFileName {
  /** As it stands in the name: `org--model`. */
  readonly model: string
  readonly shape: MetricShape
  readonly metric: MetricName
}

/** A model in file names: `/` becomes `--`, and path parts without effect at either end are dropped. */
export function modelInNames(model: string): string {
  return model
    .replace(/^(?:\.\/+)+(?=.)/, '')
    .replace(/(?<=.)\/+$/, '')
    .replaceAll('/', '--')
}

/** Most file systems take names of 255 bytes; `.sequences.json` follows. */
const LONGEST = 240

/** The documented beginning of the names of one shape's files. */
export function metricPrefix(model: string, { newTokens, batchSize, promptLength, dtype }: MetricShape): string {
  const shape = `max-new-tokens-${newTokens}_batch-size-${batchSize}_seq-length-${promptLength}_dtype-${dtype}`
  const prefix = `${modelInNames(model)}_${shape}`
  const byteLength = Buffer.byteLength(prefix)
  if (byteLength <= LONGEST) return prefix
  const advice = 'give the model by a shorter path, such as one from its own folder'
  throw new UsageError('name', `metric files of ${model} would have names of ${byteLength} bytes; ${advice}`)
}

/** The older form has no dash before the length. */
const PREFIX = /^(.+)_max-new-tokens-(\d+)_batch-size-(\d+)_seq-length-?(\d+)_dtype-([^.]+)$/s

/** null: no name of such a file. */
export function parsePrefix(prefix: string): Omit<MetricFileName, 'metric'> | null {
  const [, model, newTokens, batchSize, promptLength, dtype] = PREFIX.exec(prefix) ?? []
  if (model === undefined) return null
  const numbers = { newTokens: Number(newTokens), batchSize: Number(batchSize), promptLength: Number(promptLength) }
  // Documented paths may end with a slash, which is the same folder without it.
  return { model: model.replace(/(?<=.)--$/, ''), shape: { ...numbers, dtype: dtype! } }
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
