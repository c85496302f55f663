import { relative } from 'node:path'
import type { Environment } from '../domain/environment.ts'
import { redact } from '../domain/redact.ts'
import type { Origin } from '../options/kinds.ts'
import { resolveOptions, type Sources } from '../options/resolve.ts'
import { environmentName, flagOf, type OptionSpec, type OptionTable, specsOf } from '../options/table.ts'
import type { AssayConfig } from '../settings/assay-config.ts'
import { DECODER_GROUPS, DECODER_OPTIONS } from '../settings/decoder-options.ts'
import { onnxChoices } from '../settings/onnx-choices.ts'
import { OPTION_GROUPS, TEST_OPTIONS } from '../settings/option-table.ts'
import { defaultGlobs } from '../suites/tensors/discover-models.ts'
import { type Asked, type Invocation, invocationOf } from './invocation.ts'

interface SettingOrigin {
  readonly source: Origin
  /** The variable, or the file and its key. */
  readonly name?: string
}

export interface ExplainedSetting {
  readonly key: string
  /** As one would write it. */
  readonly text: string
  /** null: none is set, and `text` says what happens then. */
  readonly value: unknown
  readonly origin: SettingOrigin
}

interface SettingGroup {
  readonly title: string
  readonly settings: readonly ExplainedSetting[]
}

export interface ExplainedSettings {
  readonly file: string | null
  readonly groups: readonly SettingGroup[]
}

/** What a command line would mean: every value and where it came from; refused where `assay test` would refuse it. */
export async function explainSettings(asked: Asked): Promise<ExplainedSettings> {
  const invocation = await invocationOf(asked)
  const { values, loaded } = invocation
  onnxChoices(values, loaded.config)
  const file = loaded.path === null ? null : relative(asked.cwd, loaded.path)
  const groups = [models(asked, loaded.config, file), ...options(asked, invocation, file)]
  return { file, groups: [...groups, ...decoders(asked, loaded.config, file), ...sections(loaded.config, file ?? '')] }
}

function options(asked: Asked, { loaded, values }: Invocation, file: string | null): SettingGroup[] {
  const sources = { commandLine: asked.options, environment: asked.environment, file: loaded.config }
  const { origins, values: given } = resolveOptions(TEST_OPTIONS, sources)
  // Where it runs decides about the reporters.
  const settled = { ...given, reporter: values.reporter }
  return optionGroups(OPTION_GROUPS, { values: settled, origins }, (key) => `${file}:${key}`, sources)
}

/** Where a configuration names decoders, or a variable sets something for them. */
function decoders({ environment }: Asked, { decoders: section }: AssayConfig, file: string | null): SettingGroup[] {
  const sources = { commandLine: {}, environment, file: section ?? {} }
  const resolved = resolveOptions(DECODER_OPTIONS, sources)
  const isSet = Object.values(resolved.origins).some((origin) => origin !== 'default')
  if (section === undefined && !isSet) return []
  const place = (key: string) => `${file}:decoders.${key}`
  const groups = optionGroups(DECODER_GROUPS, resolved, place, sources)
  return [
    ...decoderModels(section?.models ?? [], place('models')),
    ...groups.map(({ title, settings }) => ({ title: `Decoders: ${title.toLowerCase()}`, settings })),
  ]
}

function decoderModels(named: readonly string[], place: string): SettingGroup[] {
  if (named.length === 0) return []
  const origin = { source: 'config file', name: place } as const
  return [{ title: 'Decoders', settings: [{ key: 'models', text: named.join(' '), value: named, origin }] }]
}

interface ResolvedTable {
  readonly values: Readonly<Record<string, unknown>>
  readonly origins: Readonly<Record<string, Origin>>
}

function optionGroups(
  groups: Readonly<Record<string, OptionTable>>,
  { values, origins }: ResolvedTable,
  place: (key: string) => string,
  { environment }: Pick<Sources, 'environment'>,
): SettingGroup[] {
  const explain = (spec: OptionSpec): ExplainedSetting => {
    const value = values[spec.key]
    const text = String(redact(value === undefined ? defaultInWords(spec) : spec.kind.write(value)))
    const origin = originOf(spec, origins[spec.key]!, place, environment)
    return { key: nameOf(spec), text, value: redact(value) ?? null, origin }
  }
  return Object.entries(groups).map(([title, table]) => ({
    title,
    settings: specsOf(table)
      .filter((spec) => isTold(spec, origins[spec.key]!))
      .map(explain),
  }))
}

/** What happens without a value, where that depends on more than the option. */
function defaultInWords({ help }: OptionSpec): string {
  return /\(default: (.*)\)$/.exec(help)?.[1] ?? ''
}

/** What can only be said on the command line is told when it was. */
function isTold(spec: OptionSpec, source: Origin): boolean {
  return spec.key !== 'json' && !(spec.commandLineOnly && source === 'default')
}

function nameOf(spec: OptionSpec): string {
  return spec.commandLineOnly ? flagOf(spec) : spec.key
}

function originOf(
  spec: OptionSpec,
  source: Origin,
  place: (key: string) => string,
  environment: Environment,
): SettingOrigin {
  if (source === 'environment') return { source, name: variableOf(spec, environment) }
  if (source === 'config file') return { source, name: place(spec.key) }
  return source === 'command line' ? { source, name: flagOf(spec) } : { source }
}

/** Ours, or the documented one of another tool. */
function variableOf({ key, variable }: OptionSpec, environment: Environment): string {
  const own = environmentName(key)
  return environment[own] || variable === undefined ? own : variable
}

function models({ paths, cwd }: Asked, config: AssayConfig, file: string | null): SettingGroup {
  const row = (value: readonly string[], origin: SettingOrigin) => ({
    title: 'Models',
    settings: [{ key: 'models', text: value.join(' '), value, origin }],
  })
  if (paths.length > 0) return row(paths, { source: 'command line' })
  if (config.models) return row(config.models, { source: 'config file', name: `${file}:models` })
  return row(defaultGlobs(cwd), { source: 'default' })
}

/** What only the file can say. */
function sections(
  { targets = {}, toolchains = {}, inputs = {}, dims = {}, tolerances = [], convergence = [] }: AssayConfig,
  file: string,
): SettingGroup[] {
  const row = (key: string, place: string, given: unknown): ExplainedSetting => {
    const value = redact(given)
    return { key, text: textOf(value), value, origin: { source: 'config file', name: `${file}:${place}` } }
  }
  const nested = (section: string, content: Readonly<Record<string, object>>) =>
    Object.entries(content).flatMap(([match, each]) =>
      Object.entries(each).map(([name, value]) => row(`${match} ${name}`, `${section}.${match}.${name}`, value)),
    )
  const groups = [
    {
      title: 'Targets by name',
      settings: Object.entries(targets).map(([name, value]) => row(name, `targets.${name}`, value)),
    },
    { title: 'Toolchains', settings: nested('toolchains', commandLines(toolchains)) },
    { title: 'Inputs by model', settings: nested('inputs', inputs) },
    { title: 'Dimensions by model', settings: nested('dims', dims) },
    { title: 'Tolerances', settings: tolerances.map((rule, i) => row(`[${i}]`, `tolerances[${i}]`, rule)) },
    { title: 'Convergence', settings: convergence.map((each, i) => row(`[${i}]`, `convergence[${i}]`, each)) },
  ]
  return groups.filter(({ settings }) => settings.length > 0)
}

/** The commands of toolchains as one would read them, and not as lists. */
function commandLines(toolchains: NonNullable<AssayConfig['toolchains']>): Record<string, object> {
  const inWords = ([key, value]: [string, unknown]) =>
    ['version', 'import', 'compile', 'run'].includes(key) && Array.isArray(value)
      ? [key, value.flat().join(' ')]
      : [key, value]
  return Object.fromEntries(
    Object.entries(toolchains).map(([name, each]) => [name, Object.fromEntries(Object.entries(each).map(inWords))]),
  )
}

/** `match=conv/** rtol=0.001` for an object. */
function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join(',')
  if (typeof value !== 'object' || value === null) return String(value)
  const pairs = Object.entries(value).filter(([, each]) => each !== undefined)
  return pairs.map(([key, each]) => `${key}=${textOf(each)}`).join(' ')
}
