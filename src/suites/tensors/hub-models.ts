import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Environment } from '../../domain/environment.ts'
import { UsageError } from '../../domain/errors.ts'
import { cleanText } from '../../domain/text.ts'
import { nearFile } from '../../files/disk/near-file.ts'
import { fetchModel } from '../../models/hugging-face/hub/fetch-model.ts'
import { Unreachable } from '../../models/hugging-face/hub/http.ts'
import { parseModelId } from '../../models/hugging-face/hub/model-id.ts'
import { chooseOnnx } from '../../models/hugging-face/hub/needed-files.ts'
import type { ResolvedModel } from '../../models/hugging-face/hub/resolve-model.ts'
import type { Notice } from '../contract.ts'
import type { FolderNames } from './discover-models.ts'

type WantedWeights = Parameters<typeof fetchModel>[1]['weights']

/** Models by path or id, and where they are looked for. */
interface NamedModels {
  readonly paths: readonly string[]
  readonly cwd: string
  readonly environment: Environment
  /** Of their weights; all that a target may run by default. */
  readonly weights?: WantedWeights
}

/** The paths with folders for the Hugging Face ids among them; what is not on this machine is fetched. */
export async function withHubModels(
  named: NamedModels,
  notice: Notice,
): Promise<{ readonly paths: readonly string[]; readonly ids: FolderNames }> {
  const ids = new Map<string, string>()
  const paths: string[] = []
  for (const given of named.paths) {
    const model = couldBeId(given, named.cwd) ? await hubModel(given, named, notice) : null
    if (model) ids.set(model.path, given)
    paths.push(model?.path ?? given)
  }
  return { paths, ids }
}

/** A mistyped file is no id, although it could be the name of one. */
export function couldBeId(given: string, cwd: string): boolean {
  return parseModelId(given) !== null && !/\.[a-z]+$/i.test(given) && !existsSync(resolve(cwd, given))
}

const ALL_WEIGHTS: WantedWeights = ['onnx', 'safetensors']

function chooseAnyOnnx(names: readonly string[]): string | null {
  return chooseOnnx(names) ?? names.find((name) => name.endsWith('.onnx')) ?? null
}

/** Looks in the cache, then for a similar path, then on the hub. */
async function hubModel(
  given: string,
  { cwd, environment, weights = ALL_WEIGHTS }: NamedModels,
  notice: Notice,
): Promise<ResolvedModel | null> {
  const wanted = { weights, chooseOnnx: chooseAnyOnnx }
  const cached = await fetchModel(given, wanted, { cwd, environment, offline: true }, notice).catch(unlessRefused)
  if (cached || nearFile(given, cwd) !== null) return cached
  try {
    return await fetchModel(given, wanted, { cwd, environment, offline: false }, notice)
  } catch (error) {
    throw error instanceof Unreachable ? neitherPathNorModel(given, error) : error
  }
}

function unlessRefused(error: unknown): null {
  if (error instanceof UsageError) return null
  throw error
}

function neitherPathNorModel(given: string, error: Unreachable): UsageError {
  const found = `no file or folder "${cleanText(given, 200)}", and no model with that id in the Hugging Face cache`
  return new UsageError('path', `${found}; ${error.message}`, { cause: error })
}
