import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, extname, join, relative, resolve } from 'node:path'
import type { Environment } from '../domain/environment.ts'
import { UsageError } from '../domain/errors.ts'
import { builtFile } from '../files/disk/own-files.ts'
import { readTextSync } from '../files/disk/regular-file.ts'
import { type InputSetting, inputPolicyOf } from '../models/inputs/input-policy.ts'
import { moveWritten } from '../options/in-file.ts'
import { resolveOptions } from '../options/resolve.ts'
import { environmentName, pick } from '../options/table.ts'
import type { AssayConfig } from './assay-config.ts'
import { locatedDecoders } from './located-decoders.ts'
import { locatedTargets } from './located-targets.ts'
import { TEST_OPTIONS } from './option-table.ts'
import { locatedToolchains } from './toolchains.ts'

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
): Promise<LoadedConfig> {
  const given = options.config as string | undefined
  if (!forbidsConfig(options, environment)) return loadConfig(given, cwd)
  if (given === undefined) return { path: null, config: {} }
  const how = options.noConfig === undefined ? environmentName('noConfig') : '--no-config'
  throw new UsageError(
    'option',
    `--config ${given} names a configuration and ${how} forbids any; leave one of them out`,
  )
}

/** The folder is a stranger's: no configuration of it counts, and nothing in it is run. */
export function forbidsConfig(options: Readonly<Record<string, unknown>>, environment: Environment): boolean {
  const table = pick(TEST_OPTIONS, ['noConfig'])
  return resolveOptions(table, { commandLine: options, environment, file: {} }).values.noConfig
}

async function loadConfig(given: string | undefined, cwd: string): Promise<LoadedConfig> {
  const path = given === undefined ? CONFIG_NAMES.map((name) => join(cwd, name)).find(existsSync) : resolve(cwd, given)
  if (path === undefined) return { path: null, config: {} }
  if (!existsSync(path)) throw new UsageError('config', `no configuration file "${given}"`)
  const raw = await readConfig(path)
  const { checkConfig } = await import('./config-schema.ts')
  return { path, config: fromItsFolder(checkConfig(raw, basename(path)), dirname(path), cwd) }
}

/** Paths of a configuration are relative to its own folder, those of the command line to the current one. */
function fromItsFolder(config: AssayConfig, folder: string, cwd: string): AssayConfig {
  const moved = (path: string) => relative(cwd, resolve(folder, path)) || '.'
  const models = config.models?.map(moved)
  const inputs = Object.entries(config.inputs ?? {}).map(([match, settings]) => {
    const located = Object.entries(settings).map(([name, setting]) => [name, locatedInput(setting, folder, cwd)])
    return [match, Object.fromEntries(located)]
  })
  const toolchains = config.toolchains && locatedToolchains(config.toolchains, folder)
  return {
    ...moveWritten(TEST_OPTIONS, config, moved),
    ...locatedTargets(config, (file) => relative(cwd, resolve(folder, file))),
    ...(toolchains && { toolchains }),
    ...(models && { models }),
    ...(config.decoders && { decoders: locatedDecoders(config.decoders, folder, cwd) }),
    inputs: Object.fromEntries(inputs),
  }
}

function locatedInput(setting: InputSetting, folder: string, cwd: string): InputSetting {
  const policy = inputPolicyOf(setting)
  return typeof policy === 'object' && 'file' in policy ? { file: relative(cwd, resolve(folder, policy.file)) } : policy
}

async function readConfig(path: string): Promise<unknown> {
  try {
    const text = readTextSync(path, LARGEST_BYTES)
    if (extname(path) === '.json') return JSON.parse(text)
    if (/^\.ya?ml$/.test(extname(path)))
      return (await import('../files/formats/yaml-document.ts')).parseYaml(text) ?? {}
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
