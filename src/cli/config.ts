import { existsSync, readFileSync } from 'node:fs'
import { basename, extname, join, resolve } from 'node:path'
import { UsageError } from '../domain/errors.ts'
import type { AssayConfig } from './config-schema.ts'

const NAMES = ['ts', 'mts', 'js', 'mjs', 'json', 'yaml', 'yml'].map((extension) => `assay.config.${extension}`)

export interface LoadedConfig {
  readonly path: string | null
  readonly config: AssayConfig
}

/** Loads the file named, or the first assay.config.* of the folder; no file is an empty configuration. */
export async function loadConfig(given: string | undefined, cwd: string): Promise<LoadedConfig> {
  const path = given === undefined ? NAMES.map((name) => join(cwd, name)).find(existsSync) : resolve(cwd, given)
  if (path === undefined) return { path: null, config: {} }
  if (!existsSync(path)) throw new UsageError('config', `no configuration file "${given}"`)
  const raw = await readConfig(path)
  const { checkConfig } = await import('./config-schema.ts')
  return { path, config: checkConfig(raw, basename(path)) }
}

async function readConfig(path: string): Promise<unknown> {
  try {
    if (extname(path) === '.json') return JSON.parse(readFileSync(path, 'utf8'))
    if (/^\.ya?ml$/.test(extname(path)))
      return (await import('yaml')).parse(readFileSync(path, 'utf8'), { schema: 'core' }) ?? {}
    const { createJiti } = await import('jiti')
    return await createJiti(import.meta.url, { moduleCache: false }).import(path, { default: true })
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    throw new UsageError('config', `cannot read ${basename(path)}: ${message}`, { cause: error })
  }
}
