import { z } from 'zod'
import { DTYPES, type DType } from '../domain/dtype.ts'
import { UsageError } from '../domain/errors.ts'
import { type InputFunction, SIGNALS } from '../models/input-policy.ts'
import { checkKeys, TEST_OPTIONS } from './options.ts'

const range = z.tuple([z.number(), z.number()])

const input = z.union([
  z.number(),
  z.array(z.number()),
  z.string(),
  z.strictObject({ range }),
  z.strictObject({ value: z.union([z.number(), z.array(z.number())]) }),
  z.strictObject({ file: z.string() }),
  z
    .strictObject({ signal: z.enum(SIGNALS), range: range.optional() })
    .transform(({ signal, range: levels }) => (levels ? { signal, range: levels } : { signal })),
  z.custom<InputFunction>((value) => typeof value === 'function'),
])

const sizes = z.union([z.number().int().nonnegative(), z.array(z.number().int().nonnegative())])

const tolerance = z.strictObject({
  match: z.string().optional(),
  op: z.string().optional(),
  output: z.string().optional(),
  dtype: z.enum(Object.keys(DTYPES) as [DType, ...DType[]]).optional(),
  rtol: z.number().optional(),
  atol: z.number().optional(),
  scale: z.number().optional(),
  relL2: z.number().optional(),
  allowedMismatch: z.number().optional(),
})

const target = z.union([
  z.string(),
  z.strictObject({
    runtime: z.string(),
    version: z.string().optional(),
    device: z.string().optional(),
    options: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
  }),
])

const sections = z.object({
  /** Files, folders and globs that are judged when the command line names none. */
  models: z.array(z.string()).optional(),
  /** Targets by name, usable in `--target` and `--reference`. */
  targets: z.record(z.string(), target).optional(),
  /** Model glob → input name → how it is filled. */
  inputs: z.record(z.string(), z.record(z.string(), input)).optional(),
  /** Model glob → symbolic dimension → size or sizes. */
  dims: z.record(z.string(), z.record(z.string(), sizes)).optional(),
  tolerances: z.array(tolerance).optional(),
})

export type ConfigSections = z.infer<typeof sections>
export type ConfigTarget = z.infer<typeof target>
/** What `assay.config.ts` may hold: the sections above, and every option that is not for the command line alone. */
export type AssayConfig = ConfigSections & Readonly<Record<string, unknown>>

export function checkConfig(raw: unknown, where: string): AssayConfig {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
    throw new UsageError('config', `${where} must export an object; wrap it in defineConfig({ … })`)
  }
  const options = TEST_OPTIONS.filter((spec) => !spec.commandLineOnly).map((spec) => spec.key)
  checkKeys(Object.keys(raw), [...Object.keys(sections.shape), ...options], where)
  const checked = sections.safeParse(raw)
  if (checked.success) return { ...raw, ...checked.data }
  const issue = checked.error.issues[0]!
  throw new UsageError('config', `${where}: ${issue.path.join('.') || 'top level'}: ${issue.message}`)
}
