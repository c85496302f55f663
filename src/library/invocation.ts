import { relative } from 'node:path'
import { type LoadedConfig, loadConfig } from '../settings/config-file.ts'
import { TEST_OPTIONS } from '../settings/option-table.ts'
import { resolveOptions } from '../settings/options.ts'
import { reproduceCommand } from '../settings/reproduce.ts'
import { type ChosenTargets, chosenTargets } from '../settings/targets.ts'
import { type TestValues, testValues } from '../settings/test-values.ts'

/** What was asked for, before anything is known about the models. */
export interface Asked {
  readonly cwd: string
  readonly paths: readonly string[]
  readonly options: Readonly<Record<string, unknown>>
  readonly environment: Readonly<Record<string, string | undefined>>
}

/** Everything that is known before the first case is collected. */
export interface Invocation {
  readonly cwd: string
  readonly paths: readonly string[]
  /** As on the command line; empty where the configuration names the models. */
  readonly givenPaths: readonly string[]
  readonly values: TestValues
  readonly loaded: LoadedConfig
  readonly targets: ChosenTargets
}

export async function invocationOf({ cwd, paths, options, environment }: Asked): Promise<Invocation> {
  const loaded = await loadConfig(options.config as string | undefined, cwd)
  const sources = { commandLine: options, environment, file: loaded.config }
  const values = testValues(resolveOptions(TEST_OPTIONS, sources).values)
  return {
    cwd,
    paths: paths.length > 0 ? paths : (loaded.config.models ?? []),
    givenPaths: paths,
    values,
    loaded,
    targets: chosenTargets(values, loaded.config),
  }
}

/** The command line that judges one of its cases again. */
export function reproduceOf({ givenPaths, loaded, values, cwd }: Invocation): (id: string) => string {
  const config = loaded.path === null ? null : relative(cwd, loaded.path)
  return (id) => reproduceCommand(id, givenPaths, values, config)
}
