import { relative } from 'node:path'
import type { Environment } from '../domain/environment.ts'
import { UsageError } from '../domain/errors.ts'
import { resolveOptions } from '../options/resolve.ts'
import type { Toolchains } from '../runtimes/toolchain/definition.ts'
import type { AssayConfig } from '../settings/assay-config.ts'
import { chosenConfig, type LoadedConfig } from '../settings/config-file.ts'
import { TEST_OPTIONS } from '../settings/option-table.ts'
import { withoutOverruled } from '../settings/overruled-hardware.ts'
import { type Invoked, reproduceCommand } from '../settings/reproduce.ts'
import { type ChosenTargets, chosenTargets } from '../settings/targets.ts'
import { type TestValues, testValues } from '../settings/test-values.ts'
import { toolchainsOf } from '../settings/toolchains.ts'

/** What was asked for, before anything is known about the models. */
export interface Asked {
  /** `run` judges what the configuration names, so it needs one. */
  readonly command: Invoked['command']
  readonly cwd: string
  readonly paths: readonly string[]
  readonly options: Readonly<Record<string, unknown>>
  readonly environment: Environment
  /** Sections of a configuration that go before those of the file. */
  readonly sections?: Sections
}

type Sections = Pick<AssayConfig, 'targets' | 'toolchains' | 'inputs' | 'dims' | 'tolerances'>

/** Everything that is known before the first case is collected. */
export interface Invocation {
  readonly command: Invoked['command']
  readonly cwd: string
  readonly environment: Environment
  readonly paths: readonly string[]
  /** As on the command line; empty where the configuration names the models. */
  readonly givenPaths: readonly string[]
  readonly values: TestValues
  readonly loaded: LoadedConfig
  readonly targets: ChosenTargets
  readonly toolchains: Toolchains
  /** Folders that were named by a Hugging Face id, with that id. */
  readonly ids?: ReadonlyMap<string, string>
  /** Of the models found only these, by path. */
  readonly only?: readonly string[]
  /** Options that only this command has, as words that ask for them again. */
  readonly more?: readonly string[]
}

export async function invocationOf(asked: Asked): Promise<Invocation> {
  const { command, cwd, paths, options, environment, sections = {} } = asked
  const loaded = withSections(await chosenConfig(options, environment, cwd), sections)
  const sources = { commandLine: options, environment, file: loaded.config }
  const { values: given, origins } = resolveOptions(TEST_OPTIONS, sources)
  const toolchains = toolchainsOf(loaded.config, cwd)
  const settled = testValues(given, environment)
  if (command === 'run' && loaded.path === null) throw settled.noConfig ? forbidden() : noConfig()
  const hasTargets = command !== 'converge'
  const values = hasTargets ? withoutOverruled(settled, origins, loaded.config, toolchains) : settled
  return {
    command,
    cwd,
    environment,
    paths: paths.length > 0 ? paths : (loaded.config.models ?? []),
    givenPaths: paths,
    values,
    loaded,
    targets: chosenTargets(hasTargets ? values : NO_TARGETS, loaded.config, { cwd, toolchains }),
    toolchains,
  }
}

/** A training program is no target, so what is said of targets does not matter. */
const NO_TARGETS = { target: undefined, reference: undefined }

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
function withSections({ path, config }: LoadedConfig, sections: Sections): LoadedConfig {
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
export function reproduceOf({
  command,
  givenPaths,
  loaded,
  values,
  cwd,
  more = [],
}: Invocation): (id: string) => string {
  const config = loaded.path === null ? null : relative(cwd, loaded.path)
  return (id) => reproduceCommand(id, { command, paths: givenPaths, values, config, more })
}
