import { z } from 'zod'
import { DTYPES } from '../../domain/dtype.ts'
import { type InputFunction, type InputSetting, readInputPolicy, SIGNALS } from '../../models/inputs/input-policy.ts'
import type { ToolchainSettings } from '../../runtimes/toolchain/definition.ts'
import { locatedToolchains, readToolchains } from '../../runtimes/toolchain/toolchains.ts'
import type { ConfigPlace, SectionRules } from '../contract.ts'
import { nestedRows, shapedSection } from '../section-shape.ts'
import { locatedTarget } from './targets/located-targets.ts'

const range = z.tuple([z.number(), z.number()])

const input: z.ZodType<InputSetting> = z.union([
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

type InputsByModel = Record<string, Record<string, InputSetting>>

/** Its reader reports errors in it. */
const toolchain = z.custom<ToolchainSettings>(() => true)
const toolchains = z.record(z.string(), toolchain)

const toolchainRules = shapedSection('toolchains', toolchains, {
  locate: (content, { folder }) => locatedToolchains(content, folder),
  rows: (content) => nestedRows(commandLines(content)),
})

export const SECTION_RULES = {
  models: shapedSection('models', z.array(z.string()), {
    locate: (paths, { moved }) => paths.map(moved),
    // They are the first line of all.
    rows: () => [],
  }),
  targets: shapedSection('targets', z.record(z.string(), target), {
    locate: (targets, { moved }) => mapValues(targets, (each) => locatedTarget(each, moved)),
  }),
  toolchains: {
    ...toolchainRules,
    check(written, where) {
      toolchainRules.check(written, where)
      readToolchains(toolchains.parse(written), '.', where)
    },
  },
  inputs: shapedSection<InputsByModel>('inputs', z.record(z.string(), z.record(z.string(), input)), {
    locate: (models, place) =>
      mapValues(models, (inputs) => mapValues(inputs, (setting) => locatedInput(setting, place))),
    rows: nestedRows,
  }),
  dims: shapedSection('dims', z.record(z.string(), z.record(z.string(), z.union([size, z.array(size)]))), {
    rows: nestedRows,
  }),
  tolerances: shapedSection('tolerances', z.array(tolerance)),
} satisfies Readonly<Record<string, SectionRules>>

function mapValues<T, R>(object: Readonly<Record<string, T>>, map: (value: T) => R): Record<string, R> {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value)]))
}

function locatedInput(setting: InputSetting, { moved }: ConfigPlace): InputSetting {
  const policy = readInputPolicy(setting)
  return typeof policy === 'object' && 'file' in policy ? { file: moved(policy.file) } : policy
}

const COMMAND_KEYS = ['version', 'import', 'compile', 'run']

/** The commands of toolchains as one would read them, and not as lists. */
function commandLines(content: Readonly<Record<string, ToolchainSettings>>): Record<string, object> {
  const inWords = ([key, value]: [string, unknown]) =>
    COMMAND_KEYS.includes(key) && Array.isArray(value) ? [key, value.flat().join(' ')] : [key, value]
  return mapValues(content, (each) => Object.fromEntries(Object.entries(each).map(inWords)))
}
