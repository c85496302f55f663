import { UsageError } from '../../domain/errors.ts'

/** What a file of metrics was measured with. */
export interface MetricShape {
  readonly newTokens: number
  readonly batchSize: number
  readonly promptLength: number
  readonly dtype: string
}

export interface MetricPrefix {
  /** As it stands in the name: `org--model`. */
  readonly model: string
  readonly shape: MetricShape
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
export function parsePrefix(prefix: string): MetricPrefix | null {
  const [, model, newTokens, batchSize, promptLength, dtype] = PREFIX.exec(prefix) ?? []
  if (model === undefined) return null
  const numbers = { newTokens: Number(newTokens), batchSize: Number(batchSize), promptLength: Number(promptLength) }
  // Documented paths may end with a slash, which is the same folder without it.
  return { model: model.replace(/(?<=.)--$/, ''), shape: { ...numbers, dtype: dtype! } }
}
