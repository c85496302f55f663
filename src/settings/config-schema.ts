import { z } from 'zod'
import { DTYPES } from '../domain/dtype.ts'
import { UsageError } from '../domain/errors.ts'
import { type InputFunction, SIGNALS } from '../models/inputs/input-policy.ts'
import { checkKeys, checkWritten, fileKeys } from '../options/in-file.ts'
import type { AssayConfig } from './assay-config.ts'
import { DECODER_OPTIONS } from './decoder-options.ts'
import { TEST_OPTIONS } from './option-table.ts'
import { toolchainsOf } from './toolchains.ts'

const range = z.tuple([z.number(), z.number()])

const input = z.union([
  z.number(),
  z.array(z.number()),
  z.string(),
  z.strictObject({ range }),
  z.strictObject({ value: z.union([z.number(), z.array(z.number())]) }),
  z.strictObject({ file: z.string() }),
  z.strictObject({ signal: z.enum(SIGNALS), range: range.optional() }),
  z.custom<InputFunction>((value) => typeof value === 'function'),
])

const size = z.number().int().nonnegative()

const tolerance = z.strictObject({
  match: z.string().optional(),
  op: z.string().optional(),
  output: z.string().optional(),
  dtype: z.enum(Object.keys(DTYPES)).optional(),
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

const convergence = z.strictObject({
  testConfigPath: z.string(),
  storagePath: z.string(),
  manifestName: z.string().optional(),
  root: z.string().optional(),
})

const sections = z.object({
  models: z.array(z.string()).optional(),
  targets: z.record(z.string(), target).optional(),
  toolchains: z.record(z.string(), z.unknown()).optional(),
  inputs: z.record(z.string(), z.record(z.string(), input)).optional(),
  dims: z.record(z.string(), z.record(z.string(), z.union([size, z.array(size)]))).optional(),
  tolerances: z.array(tolerance).optional(),
  decoders: z.record(z.string(), z.unknown()).optional(),
  convergence: z.array(convergence).optional(),
})

const models = z.array(z.string()).optional()

function checkDecoders(section: Readonly<Record<string, unknown>>, where: string): void {
  checkKeys(Object.keys(section), ['models', ...fileKeys(DECODER_OPTIONS)], `${where}: decoders`)
  checkWritten(DECODER_OPTIONS, section, `${where}: decoders.`)
  if (models.safeParse(section.models).success) return
  throw new UsageError('config', `${where}: decoders.models: expected a list of folders or ids`)
}

/** Refuses what no option and no section has; says where, and what was meant. */
export function checkConfig(raw: unknown, where: string): AssayConfig {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
    throw new UsageError('config', `${where} must export an object; wrap it in defineConfig({ … })`)
  }
  checkKeys(Object.keys(raw), [...Object.keys(sections.shape), ...fileKeys(TEST_OPTIONS)], where)
  checkWritten(TEST_OPTIONS, raw, `${where}: `)
  const checked = sections.safeParse(raw)
  if (checked.success) {
    checkDecoders(checked.data.decoders ?? {}, where)
    toolchainsOf(raw, '.', where)
    return raw
  }
  const issue = checked.error.issues[0]!
  throw new UsageError('config', `${where}: ${issue.path.join('.') || 'top level'}: ${issue.message}`)
}
