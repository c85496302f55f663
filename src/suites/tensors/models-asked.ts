import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Environment } from '../../domain/environment.ts'
import { isGlob } from '../../files/disk/glob.ts'
import type { CommonValues } from '../../options/common-values.ts'
import type { Notice, PlanContext, SuiteRequest } from '../contract.ts'
import { defaultGlobs, type FolderNames, refuseMissing } from './discover-models.ts'
import { type ModelChoices, type ModelValues, modelChoices } from './model-choices.ts'
import type { ModelSections } from './model-sections.ts'
import { readSides, type SidesAsked } from './sides-asked.ts'
import type { SideValues } from './targets/chosen-targets.ts'
import type { TargetSections } from './targets/config-target.ts'

export type ModelConfig = ModelSections & TargetSections

/** Models by path, and how they are judged, as `assay test` was asked. */
export interface ModelsAsked extends SidesAsked {
  readonly cwd: string
  readonly environment: Environment
  /** The given paths, else those of the configuration; empty for the default places. */
  readonly paths: readonly string[]
  /** Paths that a person named must be there. */
  readonly areNamed: boolean
  readonly choices: ModelChoices
  readonly common: CommonValues
  readonly config: ModelConfig
}

export function readModels(request: SuiteRequest<SideValues & ModelValues, ModelConfig>): ModelsAsked {
  const { cwd, environment, words, values, common, config, isConfigured } = request
  return {
    ...readSides(request),
    cwd,
    environment,
    paths: words.length > 0 ? words : (config.models ?? []),
    areNamed: !isConfigured,
    choices: modelChoices(values, config),
    common,
    config,
  }
}

/** Paths on this machine. */
interface LocatedModels {
  readonly paths: readonly string[]
  /** Folders that were named by a Hugging Face id, with that id. */
  readonly ids: FolderNames | undefined
}

/** What is named by a Hugging Face id is taken from the cache, or fetched; a path that is not there is refused. */
export function locateModels(asked: ModelsAsked, context: PlanContext): Promise<LocatedModels> {
  return context.once('models', async () => {
    const located = await withIds(asked, context.notice)
    if (asked.areNamed) refuseMissing(located.paths, asked.cwd)
    return located
  })
}

async function withIds({ paths, cwd, environment }: ModelsAsked, notice: Notice): Promise<LocatedModels> {
  if (paths.every((path) => existsSync(resolve(cwd, path)) || isGlob(path))) return { paths, ids: undefined }
  return (await import('./hub-models.ts')).withHubModels({ paths, cwd, environment }, notice)
}

/** Says where nothing was found, and what to do about it. */
export function whyNoModels({ paths, cwd, common: { keyword, pattern } }: ModelsAsked): string {
  const selection = [keyword !== undefined && `-k "${keyword}"`, pattern !== undefined && `-t "${pattern}"`].filter(
    Boolean,
  )
  const where = (paths.length > 0 ? paths : defaultGlobs(cwd)).join(' ')
  if (selection.length > 0) return `no case of ${where} matches ${selection.join(' and ')}; assay list prints all ids`
  if (paths.length > 0) return `no .onnx file in ${where}`
  return `no file matches ${where}; give an .onnx file, a folder or a quoted glob`
}
