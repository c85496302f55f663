import { relative } from 'node:path'
import type { Environment } from '../domain/environment.ts'
import { isObject } from '../domain/json.ts'
import { redact } from '../domain/redact.ts'
import type { Origin } from '../options/kinds.ts'
import { type Resolved, resolveOptions, type Sources } from '../options/resolve.ts'
import {
  environmentName,
  listSpecs,
  nameFlag,
  type OptionGroups,
  type OptionSpec,
  type OptionTable,
} from '../options/table.ts'
import type { ConfigSection, SectionRow, SuiteKind } from '../suites/contract.ts'
import { SUITES } from '../suites/registry.ts'
import { readContent } from '../suites/section-content.ts'
import { configSections, topLevelOptions } from '../suites/tables.ts'
import { defaultGlobs } from '../suites/tensors/discover-models.ts'
import type { AssayConfig } from './config/assay-config.ts'
import { type CommandRequest, invoke, settingsRequest } from './invocation.ts'

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

/** Whose settings are explained: of the words given, or of all that the configuration names. */
type SettingsRequest = Omit<CommandRequest, 'command'>

/** What a command line would mean: every value and where it came from; refused where a run would refuse it. */
export async function explainSettings(request: SettingsRequest): Promise<ExplainedSettings> {
  const { environment, options, cwd, suites = SUITES } = request
  const { loaded, values } = await invoke(settingsRequest(request), () => {})
  const { config, path } = loaded
  const file = path === null ? null : relative(cwd, path)
  const sources = { commandLine: options, environment, file: config }
  const resolved = resolveOptions(topLevelOptions(suites), sources)
  // Where it runs decides about the reporters.
  const settled = { ...resolved, values: { ...resolved.values, reporter: values.reporter } }
  const top = optionGroups(topLevelGroups(suites), settled, (key) => `${file}:${key}`, environment)
  const groups = [models(request, config, file), ...top]
  for (const section of configSections(suites)) groups.push(...(await explainSection(section, suites, sources, file)))
  return { file, groups: groups.filter(({ settings }) => settings.length > 0) }
}

/** As help groups the options that stand at the top level of a configuration. */
function topLevelGroups(suites: readonly SuiteKind[]): OptionGroups {
  return Object.assign({}, ...suites.flatMap(({ groups, section }) => (groups && !section ? [groups] : [])))
}

/** What only the file can say, and the options that have a section of their own. */
async function explainSection(
  { key, title, load }: ConfigSection,
  suites: readonly SuiteKind[],
  { environment, file: config }: Sources,
  file: string | null,
): Promise<SettingGroup[]> {
  const written = readContent(config, key)
  const rows = written === undefined ? [] : ((await load()).rows?.(written) ?? entryRows(written))
  const group = { title, settings: rows.map((row) => sectionSetting(row, `${file}:${key}`)) }
  const kind = suites.find(({ section }) => section?.key === key)
  if (!kind?.section) return [group]
  const sources = { commandLine: {}, environment, file: isObject(written) ? written : {} }
  const resolved = resolveOptions(kind.section.options, sources)
  const isSet = Object.values(resolved.origins).some((origin) => origin !== 'default')
  if (!isSet && !isObject(written)) return [group]
  const place = (option: string) => `${file}:${key}.${option}`
  const groups = optionGroups(kind.groups ?? { options: kind.section.options }, resolved, place, environment)
  return [group, ...groups.map((each) => ({ ...each, title: `${title}: ${each.title.toLowerCase()}` }))]
}

/** One for each entry of a list or an object. */
function entryRows(written: unknown): SectionRow[] {
  if (Array.isArray(written)) return written.map((value, i) => ({ key: `[${i}]`, place: `[${i}]`, value }))
  return Object.entries(Object(written)).map(([key, value]) => ({ key, place: `.${key}`, value }))
}

function sectionSetting({ key, place, value: given, text }: SectionRow, section: string): ExplainedSetting {
  const value = redact(given)
  return { key, text: text ?? textOf(value), value, origin: { source: 'config file', name: section + place } }
}

function optionGroups(
  groups: OptionGroups,
  { values, origins }: Resolved<OptionTable>,
  place: (key: string) => string,
  environment: Environment,
): SettingGroup[] {
  const explain = (spec: OptionSpec): ExplainedSetting => {
    const value = values[spec.key]
    const text = String(redact(value === undefined ? defaultInWords(spec) : spec.kind.write(value)))
    const origin = originOf(spec, origins[spec.key]!, place, environment)
    return { key: nameOf(spec), text, value: redact(value) ?? null, origin }
  }
  return Object.entries(groups).map(([title, table]) => ({
    title,
    settings: listSpecs(table)
      .filter((spec) => origins[spec.key] && isTold(spec, origins[spec.key]!))
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
  return spec.commandLineOnly ? nameFlag(spec) : spec.key
}

function originOf(
  spec: OptionSpec,
  source: Origin,
  place: (key: string) => string,
  environment: Environment,
): SettingOrigin {
  if (source === 'environment') return { source, name: variableOf(spec, environment) }
  if (source === 'config file') return { source, name: place(spec.key) }
  return source === 'command line' ? { source, name: nameFlag(spec) } : { source }
}

/** Ours, or the documented one of another tool. */
function variableOf({ key, variable }: OptionSpec, environment: Environment): string {
  const own = environmentName(key)
  return environment[own] || variable === undefined ? own : variable
}

function models({ words, cwd }: SettingsRequest, config: AssayConfig, file: string | null): SettingGroup {
  const row = (value: readonly string[], origin: SettingOrigin) => ({
    title: 'Models',
    settings: [{ key: 'models', text: value.join(' '), value, origin }],
  })
  if (words.length > 0) return row(words, { source: 'command line' })
  if (config.models) return row(config.models, { source: 'config file', name: `${file}:models` })
  return row(defaultGlobs(cwd), { source: 'default' })
}

/** `match=conv/** rtol=0.001` for an object. */
function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join(',')
  if (typeof value !== 'object' || value === null) return String(value)
  const pairs = Object.entries(value).filter(([, each]) => each !== undefined)
  return pairs.map(([key, each]) => `${key}=${textOf(each)}`).join(' ')
}
