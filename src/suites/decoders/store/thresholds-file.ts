import { join } from 'node:path'
import { z } from 'zod'
import { toJson } from '../../../domain/json.ts'
import { writeFileAtomic } from '../../../files/disk/atomic.ts'
import { readCheckedJson } from '../../../files/formats/checked-json.ts'
import { modelInNames } from '../../../files/formats/metric-prefix.ts'
import { metricShape } from './sequences-file.ts'

const SCHEMA = 'assay/thresholds@1'

const threshold = z.strictObject({
  direction: z.enum(['lower', 'higher']),
  value: z.number(),
  /** Such as `p99`: the 99th percentile. */
  statistic: z.string(),
  count: z.number().int().positive(),
  /** null: so few values do not bound it on that side. */
  interval: z.strictObject({
    low: z.number().nullable(),
    high: z.number().nullable(),
    confidence: z.number(),
  }),
})

const metrics = z.partialRecord(z.enum(['ce', 'prob_mean', 'prob_std', 'diff_mean']), threshold)

const file = z.strictObject({
  schema: z.literal(SCHEMA),
  model: z.string(),
  /** Of its configuration and weights, by their names in its folder; absent: nothing said. */
  digests: z.record(z.string(), z.string()).optional(),
  /** null: the metric files do not say. */
  reference: z.string().nullable(),
  baseline: z.string().nullable(),
  /** Over all shapes together. */
  metrics,
  shapes: z.array(
    z.strictObject({
      ...metricShape.shape,
      metrics,
      /** The baseline's sequences, relative to this file; null: there is no such file. */
      sequences: z.string().nullable(),
    }),
  ),
  dataset: z.string().nullable(),
  created: z.string(),
  environment: z.record(z.string(), z.string()),
})

/** Limits of metrics with where they come from. */
export type ThresholdsFile = Readonly<Omit<z.infer<typeof file>, 'schema'>>
export type Threshold = z.infer<typeof threshold>

export function thresholdsPath(folder: string, model: string): string {
  return join(folder, `${modelInNames(model)}-thresholds.json`)
}

/** Gives the path. */
export async function writeThresholds(folder: string, content: ThresholdsFile): Promise<string> {
  const path = thresholdsPath(folder, content.model)
  await writeFileAtomic(path, `${toJson({ schema: SCHEMA, ...content }, 2)}\n`)
  return path
}

export async function readThresholds(path: string): Promise<ThresholdsFile> {
  const { schema: _, ...content } = await readCheckedJson(path, file, SCHEMA)
  return content
}
