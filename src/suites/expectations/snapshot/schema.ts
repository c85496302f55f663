import { z } from 'zod'
import { DTYPES, type DType } from '../../../domain/dtype.ts'
import { jsonNumber } from '../../../files/formats/json-shape.ts'

export const SNAPSHOT_SCHEMA = 'assay/expectations@1'

const count = z.number().int().nonnegative()
const dtype = z.enum(Object.keys(DTYPES) as [DType, ...DType[]])
const facts = z.record(z.string(), z.string())

const figures = z.strictObject({
  name: z.string(),
  dtype,
  shape: z.array(count),
  /** Values that are finite; the moments and projections are theirs. */
  count,
  mean: jsonNumber,
  rms: jsonNumber,
  min: jsonNumber,
  max: jsonNumber,
  nan: count,
  positive_infinity: count,
  negative_infinity: count,
  /** Sums of all values, each with a random sign that is always the same. */
  projections: z.array(jsonNumber),
  /** Of each row along the last axis: its largest value's place (null: padding, or NaN), and how far the next one is below. null: no rows, or too many. */
  top1: z.strictObject({ ids: z.array(count.nullable()), margins: z.array(jsonNumber) }).nullable(),
})

const output = z.strictObject({
  captured: z.string(),
  environment: facts,
  runtime: facts,
  /** Content of the model's folder. */
  model_digest: z.string(),
  inputs: z.string(),
  /** Positions at the start that are padding: only the signature has them. */
  padding: count,
  tolerance: z.strictObject({ precision: z.string(), rtol: z.number(), rel_l2: z.number(), source: z.string() }),
  signature: z.strictObject({ of: z.array(z.string()), values: z.array(jsonNumber) }).nullable(),
  outputs: z.array(figures),
})

const weight = z.strictObject({ dtype: z.string(), shape: z.array(count), sha256: z.string() })

const weightKeys = z.strictObject({
  captured: z.string(),
  environment: facts,
  /** Where they were read. */
  source: z.string(),
  weights: z.record(z.string(), weight),
})

export const snapshotFile = z.strictObject({
  schema: z.literal(SNAPSHOT_SCHEMA),
  model: z.string(),
  target: z.string(),
  output: output.optional(),
  weight_keys: weightKeys.optional(),
})

/** What is known of a model on a target. */
export type ModelSnapshot = Readonly<Omit<z.infer<typeof snapshotFile>, 'schema'>>
export type OutputSnapshot = Readonly<z.infer<typeof output>>
export type OutputFigures = Readonly<z.infer<typeof figures>>
export type Signature = Readonly<NonNullable<OutputSnapshot['signature']>>
export type SnapshotTolerance = OutputSnapshot['tolerance']
export type WeightKeys = Readonly<z.infer<typeof weightKeys>>
export type SnapshotWeight = Readonly<z.infer<typeof weight>>
