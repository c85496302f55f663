import { join } from 'node:path'
import { z } from 'zod'
import { FormatError } from '../../../domain/errors.ts'
import { groupBy } from '../../../domain/group.ts'
import { toJson } from '../../../domain/json.ts'
import { writeFileAtomic } from '../../../files/disk/atomic.ts'
import { readCheckedJson } from '../../../files/formats/checked-json.ts'

const SCHEMA = 'assay/layer-thresholds@1'

const limit = z.strictObject({
  direction: z.enum(['lower', 'higher']),
  /** Finite: nothing can be over an infinite limit. */
  value: z.number(),
  /** The 99th percentile of an error, the 1st of a similarity. */
  statistic: z.enum(['p99', 'p1']),
  /** Values that it was learnt from, one for each step and run. */
  count: z.number().int().positive(),
})

const layer = z.strictObject({
  /** With call and element, as in `layers.json`. */
  name: z.string(),
  /** null: the files that it was learnt from do not say. */
  shape: z.array(z.number().int().nonnegative()).nullable(),
  metrics: z.record(z.string(), limit),
  /** Metrics without a limit, and why. */
  unlimited: z.record(z.string(), z.string()).optional(),
})

const file = z.strictObject({
  schema: z.literal(SCHEMA),
  model: z.string(),
  /** null here and below: the files that it was learnt from do not say. */
  mode: z.string().nullable(),
  reference: z.string().nullable(),
  baseline: z.string().nullable(),
  created: z.string(),
  environment: z.record(z.string(), z.string()),
  layers: z.array(layer),
})

/** Limits of every layer, learnt from what a baseline gives. */
export type LayerThresholds = Readonly<Omit<z.infer<typeof file>, 'schema'>>
export type LimitedLayer = Readonly<z.infer<typeof layer>>
export type LayerLimit = Readonly<z.infer<typeof limit>>

/** A line for each layer. */
export async function writeLayerThresholds(path: string, { layers, ...head }: LayerThresholds): Promise<void> {
  for (const one of layers) refuseInfinite(one)
  const lines = layers.map((one) => toJson(one)).join(',\n')
  const start = toJson({ schema: SCHEMA, ...head }).slice(0, -1)
  await writeFileAtomic(path, `${start},"layers":[\n${lines}\n]}\n`)
}

function refuseInfinite({ name, metrics }: LimitedLayer): void {
  const found = Object.entries(metrics).find(([, { value }]) => !Number.isFinite(value))
  if (!found) return
  const [metric, { value }] = found
  throw new FormatError('thresholds', `${metric} of ${name} is ${value}, which cannot be a limit; leave it out`)
}

export async function readLayerThresholds(path: string): Promise<LayerThresholds> {
  const { schema: _, ...content } = await readCheckedJson(path, file, SCHEMA)
  return content
}

/** null: nothing was learnt about the layer. */
export type FindLimits = (name: string, shape: readonly number[]) => LimitedLayer | null

/** Finds a layer of the same shape, or one whose shape nobody recorded. */
export function indexLimits(layers: readonly LimitedLayer[]): FindLimits {
  const named = groupBy(layers, ({ name }) => name)
  return (name, shape) => {
    const found = named.get(name) ?? []
    return found.find((one) => one.shape?.join() === shape.join()) ?? found.find((one) => one.shape === null) ?? null
  }
}

/** Beside `<model>-thresholds.json`, which has the limits of whole decoders. */
export function layerThresholdsPath(folder: string, modelInName: string): string {
  return join(folder, `${modelInName}-layer-thresholds.json`)
}
