import { writeFile } from 'node:fs/promises'
import { z } from 'zod'
import { DTYPES, type DType } from '../../domain/dtype.ts'
import { toJson } from '../../domain/json.ts'
import { readCheckedJson } from '../../files/formats/checked-json.ts'
import { jsonNumberOrNull } from '../../files/formats/json-shape.ts'

export const LAYERS_FILE = 'layers.json'
const SCHEMA = 'assay/layers@1'

const dtype = z.enum(Object.keys(DTYPES) as [DType, ...DType[]])

const judged = z.strictObject({
  /** unlimited: no limit is known for this layer. */
  standing: z.enum(['within', 'over', 'unlimited', 'unmeasured']),
  /** With the margin, of the metrics that were judged. */
  limits: z.record(z.string(), z.number()),
  why: z.string().optional(),
  /** Where the error of a layer over its limit was made, in words. */
  origin: z.string().optional(),
})

const row = z.strictObject({
  /** `name@1` is a second call in the same step, `name#0` an element of a tuple. */
  name: z.string(),
  /** 0 is a forward pass, or the prompt of a text; 1 is the first token after it. */
  step: z.number().int().nonnegative(),
  shape: z.array(z.number().int().nonnegative()),
  /** null: this side does not compute it. */
  reference: dtype.nullable(),
  target: dtype.nullable(),
  /** Numbers that were compared. */
  count: z.number().int().nonnegative(),
  metrics: z.record(z.string(), jsonNumberOrNull),
  /** Why nothing was measured. */
  problem: z.string().optional(),
  /** Where limits were known. */
  judged: judged.optional(),
})

const file = z.strictObject({
  schema: z.literal(SCHEMA),
  model: z.string(),
  mode: z.string(),
  reference: z.string(),
  target: z.string(),
  layers: z.array(row),
})

/** Every layer at every step, in the order in which the reference computes them. */
export type LayersFile = Readonly<Omit<z.infer<typeof file>, 'schema'>>
export type LayerRow = Readonly<z.infer<typeof row>>

/** A line for each layer. */
export async function writeLayersFile(path: string, { layers, ...head }: LayersFile): Promise<void> {
  const lines = layers.map((layer) => toJson(layer)).join(',\n')
  const start = toJson({ schema: SCHEMA, ...head }).slice(0, -1)
  await writeFile(path, `${start},"layers":[\n${lines}\n]}\n`)
}

export async function readLayersFile(path: string): Promise<LayersFile> {
  const { schema: _, ...content } = await readCheckedJson(path, file, SCHEMA)
  return content
}
