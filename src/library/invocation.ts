import { relative } from 'node:path'
import type { Environment } from '../domain/environment.ts'
import { UsageError } from '../domain/errors.ts'
import { isObject } from '../domain/json.ts'
import { COMMON_OPTIONS } from '../options/common.ts'
import { type CommonValues, commonValues } from '../options/common-values.ts'
import { reproduceCommand } from '../options/reproduce.ts'
import { resolveOptions } from '../options/resolve.ts'
import { type OptionTable, omit } from '../options/table.ts'
import type { Notice, SuiteKind, SuiteRequest, SuiteWork } from '../suites/contract.ts'
import { SUITES } from '../suites/registry.ts'
import { readContent } from '../suites/section-content.ts'
import { commandOptions, findKinds, topLevelOptions } from '../suites/tables.ts'
import type { AssayConfig } from './config/assay-config.ts'
import { chosenConfig, type LoadedConfig } from './config/config-file.ts'

/** A command line that asks for suites, or what stands for one. */
export interface CommandRequest {
  /** The command of some suites; `run`: what the configuration names, which it needs; `list`: the same, if there is one. */
  readonly command: string
  readonly cwd: string
  readonly words: readonly string[]
  readonly options: Readonly<Record<string, unknown>>
  readonly environment: Environment
  /** Sections of a configuration that go before those of the file. */
  readonly sections?: ConfigSections
  /** Every suite that there is. */
  readonly suites?: readonly SuiteKind[]
}

type ConfigSections = Pick<AssayConfig, 'targets' | 'toolchains' | 'inputs' | 'dims' | 'tolerances'>

/** Everything that is known before the first case is collected. */
export interface Invocation {
  readonly command: string
  readonly cwd: string
  readonly environment: Environment
  /** As on the command line; none where the configuration names what is judged. */
  readonly words: readonly string[]
  readonly values: CommonValues
  readonly loaded: LoadedConfig
  readonly asked: readonly AskedSuite[]
  /** The command line's options and what they mean. */
  readonly table: OptionTable
  /** Of the models found only these, by path. */
  readonly only?: readonly string[]
  /** `--watch` has judged it before, so folders that it writes to hold what the run before wrote. */
  readonly isAgain?: boolean
}

/** A suite with what was asked of it. */
interface AskedSuite {
  readonly kind: SuiteKind
  readonly work: SuiteWork
  readonly request: SuiteRequest
  readonly asked: unknown
}

/** What a command asks that looks at settings: of the words given, or of all that the configuration names. */
export function settingsRequest(request: Omit<CommandRequest, 'command'>): CommandRequest {
  const { words, suites = SUITES } = request
  return { ...request, command: words.length > 0 ? usualCommand(suites) : 'list' }
}

/** Of the first suite: models are looked for where they lie by default. */
function usualCommand([first]: readonly SuiteKind[]): string {
  return first?.command.name ?? 'run'
}

export async function invoke(request: CommandRequest, notice: Notice): Promise<Invocation> {
  const { command, cwd, words, options, environment, sections = {}, suites = SUITES } = request
  const loaded = withSections(await chosenConfig(options, environment, cwd, suites), sections)
  const common = resolveOptions(COMMON_OPTIONS, { commandLine: options, environment, file: loaded.config })
  const values = commonValues(common.values, environment)
  if (command === 'run' && loaded.path === null) throw values.noConfig ? forbidden() : noConfig()
  const own = findKinds(command, suites)
  const kinds = own.length > 0 ? own : configuredKinds(suites, loaded.config)
  const shared = { command, cwd, environment, words, isConfigured: own.length === 0, values, loaded, notice }
  const asked: AskedSuite[] = []
  for (const kind of kinds) asked.push(await askSuite(kind, options, shared))
  const table = own.length > 0 ? commandOptions(own) : topLevelOptions(suites)
  return { command, cwd, environment, words, values, loaded, asked, table }
}

/** Where it names nothing, models are looked for where they lie by default. */
function configuredKinds(suites: readonly SuiteKind[], config: AssayConfig): SuiteKind[] {
  const configured = suites.filter((kind) => kind.isConfigured(config))
  return configured.length > 0 ? configured : findKinds(usualCommand(suites), suites)
}

type SharedRequest = Pick<Invocation, 'command' | 'cwd' | 'environment' | 'words' | 'values' | 'loaded'> &
  Pick<SuiteRequest, 'isConfigured' | 'notice'>

async function askSuite(
  kind: SuiteKind,
  options: CommandRequest['options'],
  { values: common, loaded, ...shared }: SharedRequest,
): Promise<AskedSuite> {
  const { environment } = shared
  const { values, origins } = resolveKind(kind, { commandLine: options, environment, config: loaded.config })
  const { config, path: configPath } = loaded
  const request: SuiteRequest = { ...shared, values, origins, common, config, configPath }
  const work = await kind.load()
  return { kind, work, request, asked: work.read ? work.read(request) : request }
}

interface KindSources {
  readonly commandLine: Readonly<Record<string, unknown>>
  readonly environment: Environment
  readonly config: AssayConfig
}

/** The options of a suite: some from the top level of the configuration, some from its section. */
function resolveKind({ options, section }: SuiteKind, { commandLine, environment, config }: KindSources) {
  const table = omit(options, Object.keys(section?.options ?? {}))
  const top = resolveOptions(table, { commandLine, environment, file: config })
  if (!section) return top
  const file = readContent(config, section.key)
  const own = resolveOptions(section.options, { commandLine, environment, file: isObject(file) ? file : {} })
  return { values: { ...top.values, ...own.values }, origins: { ...top.origins, ...own.origins } }
}

function forbidden(): UsageError {
  const what = 'assay run judges what the configuration names, and --no-config or ASSAY_NO_CONFIG forbids it'
  return new UsageError('config', `${what}; name models with assay test --no-config <model.onnx>`)
}

function noConfig(): UsageError {
  return new UsageError(
    'config',
    'no assay.config.ts, .js, .json or .yaml here; assay init writes one, assay test <model.onnx> needs none',
  )
}

/** Names of the file stay usable; what both have is taken from the sections. */
function withSections({ path, config }: LoadedConfig, sections: ConfigSections): LoadedConfig {
  const { targets, toolchains, inputs, dims, tolerances } = sections
  const merged = {
    targets: { ...config.targets, ...targets },
    toolchains: { ...config.toolchains, ...toolchains },
    inputs: { ...config.inputs, ...inputs },
    dims: { ...config.dims, ...dims },
    tolerances: [...(config.tolerances ?? []), ...(tolerances ?? [])],
  }
  return { path, config: { ...config, ...merged } }
}

/** The command line that judges one of its cases again. */
export function makeReproduce({ command, words, loaded, asked, table, cwd }: Invocation): (id: string) => string {
  const config = loaded.path === null ? null : relative(cwd, loaded.path)
  const values = Object.assign({}, ...asked.map(settledValues))
  const own = asked.find(({ work }) => work.words)
  const line = {
    command: command === 'list' ? 'run' : command,
    words: own ? own.work.words!(own.asked) : words,
    table,
    values,
    config,
    more: asked.flatMap(({ work, asked: what }) => work.repeatedWords?.(what) ?? []),
  }
  return (id) => reproduceCommand(id, line)
}

function settledValues({ work, request, asked }: AskedSuite): object {
  return { ...Object(request.values), ...work.settled?.(asked) }
}
