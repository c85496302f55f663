import { stat } from 'node:fs/promises'
import { isAbsolute, join, resolve, sep } from 'node:path'
import type { Environment } from '../../../domain/environment.ts'
import { FormatError, UsageError } from '../../../domain/errors.ts'
import { nearFile } from '../../../files/disk/near-file.ts'
import { type RetryPolicy, Unreachable } from './http.ts'
import { HubClient } from './hub-client.ts'
import { type DownloadProgress, ModelFetcher } from './model-fetcher.ts'
import { type ModelId, parseModelId } from './model-id.ts'
import { MISSING_FILE, type Needed, neededFiles, type Wanted } from './needed-files.ts'
import { noSuchPath, notHere, noWeights, withNearPath } from './refusals.ts'
import { type HubSettings, hubSettings } from './settings.ts'
import { findSnapshot, repositoryFolder, type Snapshot, snapshotFiles, writeReference } from './snapshot.ts'

interface ResolveOptions extends Wanted {
  /** Where a path begins. */
  readonly cwd: string
  readonly offline?: boolean
  readonly token?: string
  readonly environment: Environment
  readonly retryPolicy?: RetryPolicy
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: DownloadProgress) => void
  readonly notice?: (text: string) => void
}

/** A model on this machine. */
export interface ResolvedModel {
  /** A folder; a file where a path named one. */
  readonly path: string
  readonly origin: 'path' | 'cache' | 'hub'
  /** null for a path. */
  readonly id: string | null
  readonly commit: string | null
}

/** A path that exists; else a model of that id in the Hugging Face cache; else on the hub, which is asked for what is missing. */
export async function resolveModel(text: string, options: ResolveOptions): Promise<ResolvedModel> {
  const { cwd } = options
  // Every folder on the way has to be there: org/.. is no path where there is no org.
  const isPath = text !== '' && (await stat(isAbsolute(text) ? text : `${cwd}${sep}${text}`).catch(() => null))
  if (isPath) return { path: resolve(cwd, text), origin: 'path', id: null, commit: null }
  const asked = parseModelId(text)
  if (!asked) throw noSuchPath(text, cwd)
  const settings = await hubSettings(options.environment, options)
  const cached = await cachedModel(asked, settings, options)
  if (cached?.isComplete) return cached.model
  if (settings.offlineBecause !== null) {
    if (cached?.isUsable) return cached.model
    throw notHere(text, asked, settings, nearFile(text, cwd), cached !== null)
  }
  return fetchOrFallBack(text, asked, settings, cached, options)
}

interface CachedModel {
  readonly model: ResolvedModel
  /** All that was wanted is there. */
  readonly isComplete: boolean
  /** Enough is there to work with. */
  readonly isUsable: boolean
}

async function cachedModel(
  asked: ModelId,
  settings: HubSettings,
  options: ResolveOptions,
): Promise<CachedModel | null> {
  const snapshot = await findSnapshot(settings.cacheFolder, asked)
  if (!snapshot) return null
  const needed = await neededOf(snapshot, options)
  const has = (name: string) => needed?.names.includes(name) ?? false
  const found = needed?.found.length ?? 0
  return {
    model: { path: snapshot.folder, origin: 'cache', id: asked.id, commit: snapshot.commit },
    isComplete: has('tokenizer.json') && (found === 0 || has('config.json')) && found === options.weights.length,
    isUsable: found > 0 || (options.weights.length === 0 && has('tokenizer.json')),
  }
}

/** null: a part of the weights is missing. */
async function neededOf(snapshot: Snapshot, wanted: Wanted): Promise<Needed | null> {
  try {
    return await neededFiles(snapshotFiles(snapshot), wanted, async (name) => join(snapshot.folder, name))
  } catch (error) {
    if (error instanceof FormatError && error.code === MISSING_FILE) return null
    throw error
  }
}

/** Uses the cache if the hub cannot be reached. */
async function fetchOrFallBack(
  text: string,
  asked: ModelId,
  settings: HubSettings,
  cached: CachedModel | null,
  options: ResolveOptions,
): Promise<ResolvedModel> {
  try {
    return await fetchModel(asked, settings, options)
  } catch (error) {
    if (error instanceof Unreachable && cached?.isUsable) {
      options.notice?.(`${error.message}; using what the cache has of ${asked.id}`)
      return cached.model
    }
    throw error instanceof UsageError ? withNearPath(error, text, options.cwd) : error
  }
}

async function fetchModel(asked: ModelId, settings: HubSettings, options: ResolveOptions): Promise<ResolvedModel> {
  const client = new HubClient(settings, options)
  const model = await client.model(asked)
  const repository = repositoryFolder(settings.cacheFolder, asked.id)
  const fetcher = new ModelFetcher({ client, id: asked.id, model, repository, onProgress: options.onProgress })
  const names = model.files.map(({ name }) => name)
  const needed = await neededFiles(names, options, (name) => fetcher.fetch(name))
  if (options.weights.length > 0 && needed.found.length === 0) throw noWeights(asked.id, options, names)
  fetcher.expect(needed.names)
  for (const name of needed.names) await fetcher.fetch(name)
  await writeReference(repository, asked.revision, model.commit)
  const path = join(repository, 'snapshots', model.commit)
  return { path, origin: 'hub', id: asked.id, commit: model.commit }
}
