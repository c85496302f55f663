import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, extname, join, relative, resolve } from 'node:path'
import { UsageError } from '../domain/errors.ts'
import { builtFile } from '../files/own-files.ts'
import { type InputSetting, inputPolicyOf } from '../models/input-policy.ts'
import type { AssayConfig } from './assay-config.ts'
import { locatedDecoders } from './located-decoders.ts'
import { locatedTargets } from './located-targets.ts'
import { locatedToolchains } from './toolchains.ts'

export const CONFIG_NAMES = ['ts', 'mts', 'js', 'mjs', 'json', 'yaml', 'yml'].map((each) => `assay.config.${each}`)

export interface LoadedConfig {
  readonly path: string | null
  readonly config: AssayConfig
}

/** Loads the file named, or the first assay.config.* of the folder; no file is an empty configuration. */
export async function loadConfig(given: string | undefined, cwd: string): Promise<LoadedConfig> {
  const path = given === undefined ? CONFIG_NAMES.map((name) => join(cwd, name)).find(existsSync) : resolve(cwd, given)
  if (path === undefined) return { path: null, config: {} }
  if (!existsSync(path)) throw new UsageError('config', `no configuration file "${given}"`)
  const raw = await readConfig(path)
  const { checkConfig } = await import('./config-schema.ts')
  return { path, config: fromItsFolder(checkConfig(raw, basename(path)), dirname(path), cwd) }
}

/** Paths of a configuration are relative to its own folder, those of the command line to the current one. */
function fromItsFolder(config: AssayConfig, folder: string, cwd: string): AssayConfig {
  const models = config.models?.map((path) => relative(cwd, resolve(folder, path)) || '.')
  const inputs = Object.entries(config.inputs ?? {}).map(([match, settings]) => {
    const located = Object.entries(settings).map(([name, setting]) => [name, locatedInput(setting, folder, cwd)])
    return [match, Object.fromEntries(located)]
  })
  const toolchains = config.toolchains && locatedToolchains(config.toolchains, folder)
  const expected = config.expected === undefined ? {} : { expected: relative(cwd, resolve(folder, config.expected)) }
  const isPath = config.python !== undefined && /[/\\]/.test(config.python)
  const python = isPath ? { python: resolve(folder, config.python) } : {}
  return {
    ...config,
    ...expected,
    ...python,
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
    if (extname(path) === '.json') return JSON.parse(readFileSync(path, 'utf8'))
    if (/^\.ya?ml$/.test(extname(path)))
      return (await import('yaml')).parse(readFileSync(path, 'utf8'), { schema: 'core' }) ?? {}
    const { createJiti } = await import('jiti')
    const options = { moduleCache: false, alias: ownPackage(path) }
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
