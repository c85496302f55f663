import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { FormatError, StageError, UsageError } from '../../domain/errors.ts'
import { readModel } from '../../onnx/model.ts'
import { WorkerFailure } from '../../runtimes/failure.ts'
import { findSchema } from '../../runtimes/registry.ts'
import { filesOfToolchain } from '../../runtimes/toolchain/identity.ts'
import { isImportPath, listImports } from '../../runtimes/torch/imports.ts'
import type { WatchedFiles } from '../contract.ts'
import { discoverModels } from './discover-models.ts'
import type { ModelsAsked } from './models-asked.ts'

/** What the verdicts of models depend on; models are read again only when their file has changed. */
export function watchModels(asked: ModelsAsked): () => Promise<WatchedFiles> {
  const external = new ExternalFiles()
  return async () => {
    const models = new Map<string, readonly string[]>()
    for (const path of modelPaths(asked)) models.set(path, [path, ...(await external.of(path))])
    return { models, others: otherFiles(asked) }
  }
}

function modelPaths({ paths, cwd }: ModelsAsked): string[] {
  try {
    return discoverModels(paths, cwd).map(({ path }) => path)
  } catch (error) {
    if (error instanceof UsageError) return []
    throw error
  }
}

/** Files with the weights of models. */
class ExternalFiles {
  readonly #known = new Map<string, { readonly stamp: string; readonly files: readonly string[] }>()

  async of(path: string): Promise<readonly string[]> {
    const stamp = await stampOf(path)
    const known = this.#known.get(path)
    if (known?.stamp === stamp) return known.files
    const files = await externalFiles(path)
    this.#known.set(path, { stamp, files })
    return files
  }
}

async function stampOf(path: string): Promise<string> {
  const found = await stat(path).catch(() => null)
  return found ? `${found.mtimeMs} ${found.size} ${found.ino}` : 'absent'
}

async function externalFiles(path: string): Promise<readonly string[]> {
  try {
    return (await readModel(path)).externalFiles.map((file) => file.path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (error instanceof FormatError || code === 'ENOENT' || code === 'ENOTDIR') return []
    throw error
  }
}

/** Models that targets run instead, what they import, their tools, files that describe their chips, and files that inputs are read from. */
function otherFiles(asked: ModelsAsked): string[] {
  const { cwd, targets, choices } = asked
  const sides = [...targets.targets, ...(targets.reference ? [targets.reference] : []), ...targets.otherReferences]
  const models = sides.flatMap(({ options }) => options.model ?? [])
  const imported = sides.flatMap((side) => listImports(side).filter(isImportPath))
  const hardware = sides.flatMap(({ files = {} }) => Object.values(files).map(({ path }) => path))
  const policies = choices.inputs.flatMap((rule) => Object.values(rule.policies))
  const inputs = policies.flatMap((policy) => (typeof policy === 'object' && 'file' in policy ? policy.file : []))
  return [...models, ...imported, ...hardware, ...toolFiles(asked), ...inputs].map((path) => resolve(cwd, path))
}

/** Of the toolchains under test: whoever builds a compiler wants to see what that changed. */
function toolFiles({ targets, toolchains, environment }: ModelsAsked): string[] {
  const names = targets.targets.filter(({ runtime }) => findSchema(runtime).describedIn === 'toolchains')
  return [...new Set(names.map(({ device }) => device))].flatMap((name) => {
    try {
      return filesOfToolchain(toolchains[name]!, environment)
    } catch (error) {
      // A missing tool is an error of its cases and cannot be watched.
      if (error instanceof WorkerFailure || error instanceof StageError) return []
      throw error
    }
  })
}
