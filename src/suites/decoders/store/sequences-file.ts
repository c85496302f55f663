import { join } from 'node:path'
import { z } from 'zod'
import { toJson } from '../../../domain/json.ts'
import { writeFileAtomic } from '../../../files/disk/atomic.ts'
import { readCheckedJson } from '../../../files/formats/checked-json.ts'
import { jsonNumber } from '../../../files/formats/json-shape.ts'
import { metricPrefix } from '../../../files/formats/metric-prefix.ts'
import type { SequenceSummary } from '../gates/contract.ts'

const SCHEMA = 'assay/sequences@1'
/** How the name of such a file ends. */
export const SEQUENCES_ENDING = '.sequences.json'

const count = z.number().int().nonnegative()
const size = z.number().int().positive()
const flip = { referenceGap: jsonNumber, isBeyond: z.boolean(), targetGap: jsonNumber }
const metric = z.strictObject({ mean: jsonNumber, max: jsonNumber })

const sequence = z.strictObject({
  prompt: z.string(),
  continuation: z.string(),
  kept: count,
  missing: count,
  error: jsonNumber.nullable(),
  spans: z.array(jsonNumber).readonly().optional(),
  place: z.strictObject({ row: count, padded: count }).optional(),
  noise: jsonNumber.nullable(),
  nonFinite: z.strictObject({ reference: count, target: count, first: z.number().int().min(-1) }),
  worst: z
    .strictObject({
      step: count,
      klTail: jsonNumber,
      referenceTail: jsonNumber,
      targetTail: jsonNumber,
      overlap: count,
      rank: size.nullable(),
    })
    .nullable(),
  wrecked: count,
  flips: count,
  widestFlip: z.strictObject({ step: count, ...flip }).nullable(),
  divergence: z
    .strictObject({
      step: count,
      reference: count.nullable(),
      target: count.nullable(),
      flip: z.strictObject(flip).nullable(),
      isNearTie: z.boolean().nullable(),
    })
    .nullable(),
  metrics: z.strictObject({
    ce: metric,
    prob_mean: metric,
    prob_std: metric,
    diff_mean: metric,
    kl: metric,
    kl_tail: metric,
  }),
}) satisfies z.ZodType<SequenceSummary>

export const metricShape = z.strictObject({
  newTokens: size,
  batchSize: size,
  promptLength: z.number().int().nonnegative(),
  dtype: z.string(),
})

const text = z.record(z.string(), z.string())

const file = z.strictObject({
  schema: z.literal(SCHEMA),
  model: z.string(),
  /** Names of targets, and the versions of what ran them. */
  reference: z.string(),
  baseline: z.string(),
  versions: text,
  /** By content: model, tokenizer, prompts … */
  digests: text,
  /** Where the prompts come from, in words. */
  dataset: z.string(),
  shape: metricShape,
  topK: size,
  created: z.string(),
  sequences: z.array(sequence),
})

/** Results of a baseline by sequence, which the `paired` gate needs. */
export type SequencesFile = Readonly<Omit<z.infer<typeof file>, 'schema'>>

/** Beside the metric files of the same shape; gives the path. */
export async function writeSequences(folder: string, content: SequencesFile): Promise<string> {
  const path = join(folder, `${metricPrefix(content.model, content.shape)}${SEQUENCES_ENDING}`)
  await writeFileAtomic(path, `${toJson({ schema: SCHEMA, ...content }, 1)}\n`)
  return path
}

export async function readSequences(path: string): Promise<SequencesFile> {
  const { schema: _, ...content } = await readCheckedJson(path, file, SCHEMA)
  return content
}
