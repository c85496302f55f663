import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, extname, join, relative, resolve } from 'node:path'
import type { Environment } from '../../domain/environment.ts'
import { UsageError } from '../../domain/errors.ts'
import { builtFile } from '../../files/disk/own-files.ts'
import { readTextSync } from '../../files/disk/regular-file.ts'
import { CONFIGURATION_OPTIONS } from '../../options/common.ts'
import { moveWritten } from '../../options/in-file.ts'
import { resolveOptions } from '../../options/resolve.ts'
import { environmentName, pick } from '../../options/table.ts'
import type { SuiteKind } from '../../suites/contract.ts'
import { SUITES } from '../../suites/registry.ts'
import { readContent } from '../../suites/section-content.ts'
import { configSections, topLevelOptions } from '../../suites/tables.ts'
import type { AssayConfig } from './assay-config.ts'

export const CONFIG_NAMES = ['ts', 'mts', 'js', 'mjs', 'json', 'yaml', 'yml'].map((each) => `assay.config.${each}`)

const LARGEST_BYTES = 2 ** 24

export interface LoadedConfig {
  readonly path: string | null
  readonly config: AssayConfig
}

/** Loads the file that the options name, or the first assay.config.* of the folder; no file is an empty configuration. */
export async function chosenConfig(
  options: Readonly<Record<string, unknown>>,
  environment: Environment,
  cwd: string,
  kinds: readonly SuiteKind[] = SUITES,
): Promise<LoadedConfig> {
  const given = options.config as string | undefined
  if (!forbidsConfig(options, environment)) return loadConfig(given, cwd, kinds)
  if (given === undefined) return { path: null, config: {} }
  const how = options.noConfig === undefined ? environmentName('noConfig') : '--no-config'
  throw new UsageError(
    'option',
    `--config ${given} names a configuration and ${how} forbids any; leave one of them out`,
  )
}

/** The folder is a stranger's: no configuration of it counts, and nothing in it is run. */
export function forbidsConfig(options: Readonly<Record<string, unknown>>, environment: Environment): boolean {
  const table = pick(CONFIGURATION_OPTIONS, ['noConfig'])
  return resolveOptions(table, { commandLine: options, environment, file: {} }).values.noConfig
}

async function loadConfig(given: string | undefined, cwd: string, kinds: readonly SuiteKind[]): Promise<LoadedConfig> {
  const path = given === undefined ? CONFIG_NAMES.map((name) => join(cwd, name)).find(existsSync) : resolve(cwd, given)
  if (path === undefined) return { path: null, config: {} }
  if (!existsSync(path)) throw new UsageError('config', `no configuration file "${given}"`)
  const raw = await readConfig(path)
  const { checkConfig } = await import('./check-config.ts')
  const config = await checkConfig(raw, basename(path), kinds)
  return { path, config: await fromItsFolder(config, dirname(path), cwd, kinds) }
}

/** Paths of a configuration are relative to its own folder, those of the command line to the current one. */
async function fromItsFolder(
  config: AssayConfig,
  folder: string,
  cwd: string,
  kinds: readonly SuiteKind[],
): Promise<AssayConfig> {
  const moved = (path: string) => relative(cwd, resolve(folder, path)) || '.'
  const located: Record<string, unknown> = {}
  for (const { key, load } of configSections(kinds)) {
    const written = readContent(config, key)
    const { locate } = written === undefined ? {} : await load()
    if (locate) located[key] = locate(written, { folder, cwd, moved })
  }
  return { ...moveWritten(topLevelOptions(kinds), config, moved), ...located }
}

async function readConfig(path: string): Promise<unknown> {
  try {
    const text = readTextSync(path, LARGEST_BYTES)
    if (extname(path) === '.json') return JSON.parse(text)
    if (/^\.ya?ml$/.test(extname(path)))
      return (await import('../../files/formats/yaml-document.ts')).parseYaml(text) ?? {}
    const { createJiti } = await import('jiti')
    // jiti's cache of compiled files is a folder of a fixed name in the temporary folder, which any user can make first.
    const options = { moduleCache: false, fsCache: false, alias: ownPackage(path) }
    return await createJiti(import.meta.url, options).import(path, { default: true })
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    throw new UsageError('config', `cannot read ${basename(path)}: ${message}`, { cause: error })
  }
}

/** Where `assay` is not installed beside the file, as with npx in an empty folder, it means the one that runs. */
function ownPackage(path: string): Record<string, string> {
  try {
    createRequire(path).resolve('assay')
    return {}
  } catch {
    return { assay: builtFile('index.js') }
  }
}
