import { relative } from 'node:path'
import type { AssayConfig } from '../settings/assay-config.ts'
import { onnxChoices } from '../settings/onnx-choices.ts'
import { OPTION_GROUPS, TEST_OPTIONS } from '../settings/option-table.ts'
import { valueText } from '../settings/option-text.ts'
import { environmentName, flagOf, type OptionSpec, type Origin, resolveOptions } from '../settings/options.ts'
import { redact } from '../settings/redact.ts'
import { defaultGlobs } from '../suites/onnx/discover.ts'
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
  return { file, groups: [...groups, ...sections(loaded.config, file ?? '')] }
}

function options(asked: Asked, { loaded, values: settled }: Invocation, file: string | null): SettingGroup[] {
  const sources = { commandLine: asked.options, environment: asked.environment, file: loaded.config }
  const { values, origins } = resolveOptions(TEST_OPTIONS, sources)
  const explain = (spec: OptionSpec): ExplainedSetting => {
    // Where it runs decides about the reporters.
    const value = spec.key === 'reporter' ? settled.reporter : values[spec.key]
    const text = String(redact(valueText(spec, value)))
    return { key: nameOf(spec), text, value: redact(value) ?? null, origin: originOf(spec, origins[spec.key]!, file) }
  }
  return Object.entries(OPTION_GROUPS).map(([title, specs]) => ({
    title,
    settings: specs.filter((spec) => isTold(spec, origins[spec.key]!)).map(explain),
  }))
}

/** What can only be said on the command line is told when it was. */
function isTold(spec: OptionSpec, source: Origin): boolean {
  return spec.key !== 'json' && !(spec.commandLineOnly && source === 'default')
}

function nameOf(spec: OptionSpec): string {
  return spec.commandLineOnly ? flagOf(spec) : spec.key
}

function originOf(spec: OptionSpec, source: Origin, file: string | null): SettingOrigin {
  if (source === 'environment') return { source, name: environmentName(spec.key) }
  if (source === 'config file') return { source, name: `${file}:${spec.key}` }
  return source === 'command line' ? { source, name: flagOf(spec) } : { source }
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
  { targets = {}, toolchains = {}, inputs = {}, dims = {}, tolerances = [] }: AssayConfig,
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
