import { existsSync, lstatSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { UsageError } from '../../domain/errors.ts'
import { suggest } from '../../domain/suggest.ts'
import { formatBytes } from '../../domain/text.ts'
import { compileGlob, globRoot, isGlob } from '../../files/disk/glob.ts'
import { nearFile } from '../../files/disk/near-file.ts'
import { readTextSync } from '../../files/disk/regular-file.ts'
import { discoverModels } from '../../suites/tensors/discover-models.ts'
import { CONFIG_NAMES } from '../config/config-file.ts'
import { type CiKind, githubWorkflow, gitlabPipeline } from './ci-text.ts'
import { configText } from './config-text.ts'
import { ciFacts, repositoryRoot } from './project-facts.ts'
import { sampleModel } from './sample-model.ts'

export interface ProjectChoices {
  readonly folder: string
  /** Relative to the folder. */
  readonly models: readonly string[]
  readonly targets: readonly string[]
  readonly ci: CiKind
  /** undefined: only where there are no models yet. */
  readonly sample: boolean | undefined
}

export interface PlannedFile {
  readonly path: string
  readonly content: string | Uint8Array
  /** What a person is told about it. */
  readonly what: string
  /** Lines are added to what is there. */
  readonly appends?: true
}

export interface ProjectPlan {
  readonly files: readonly PlannedFile[]
  /** What is there already and would be replaced, or no longer be read. */
  readonly existing: readonly string[]
  /** Configurations that the new one comes before. */
  readonly unread: readonly string[]
}

/** What `assay init` would write; nothing is written yet. */
export function planProject(choices: ProjectChoices): ProjectPlan {
  const { folder, targets } = choices
  for (const path of choices.models) refuseMistyped(path, folder)
  const sample = choices.sample ?? !hasModels(choices)
  const samplePath = sample ? placeOfSample(choices.models) : null
  const models = [...choices.models, ...(samplePath && !isAmong(samplePath, choices.models) ? [samplePath] : [])]
  const config = {
    path: join(folder, 'assay.config.ts'),
    content: configText(models, targets),
    what: `${models.join(' ')} on ${targets.join(' ')}`,
  }
  const files = [config, ...sampleFile(folder, samplePath), ...ciFile(choices)]
  const others = otherConfigs(folder).filter(isThere)
  const existing = [...files.map(({ path }) => path).filter(isThere), ...others]
  return { files: [...files, ...ignoreFile(folder)], existing, unread: others }
}

/** A path that is not there and looks like one that is. */
function refuseMistyped(path: string, folder: string): void {
  if (path.trim() === '') throw new UsageError('models', '--models is empty; give a file, a folder or a glob')
  const root = isGlob(path) ? globRoot(path) : path
  if (existsSync(resolve(folder, root))) return
  const near = nearFile(root, folder)
  if (near) throw new UsageError('models', `no "${root}" in ${folder}; ${suggest(`"${near}"`)}`)
  if (path.endsWith('.onnx') && !isGlob(path)) throw new UsageError('models', `no file "${path}" in ${folder}`)
}

function hasModels({ models, folder }: ProjectChoices): boolean {
  const present = models.filter((path) => isGlob(path) || existsSync(resolve(folder, path)))
  return present.length > 0 && discoverModels(present, folder).some(({ path }) => existsSync(path))
}

const SAMPLE = 'sample.onnx'

/** Beside the user's models, but never outside of the project. */
function placeOfSample([first = 'models']: readonly string[]): string {
  const root = isGlob(first) ? globRoot(first) : first.endsWith('.onnx') ? dirname(first) : first
  const place = join(root, SAMPLE).split(sep).join('/')
  return place.startsWith('..') || root.startsWith('/') ? `models/${SAMPLE}` : place
}

function isAmong(path: string, models: readonly string[]): boolean {
  return models.some((each) =>
    isGlob(each) ? compileGlob(each.replace(/^\.\//, '')).test(path) : path.startsWith(`${each.replace(/\/+$/, '')}/`),
  )
}

function sampleFile(folder: string, place: string | null): PlannedFile[] {
  if (place === null) return []
  const content = sampleModel()
  const what = `a small convolutional classifier to try it on, ${formatBytes(content.length)}`
  return [{ path: join(folder, place), content, what }]
}

/** At the repository's root, the only place where they are found. */
function ciFile({ ci, folder }: ProjectChoices): PlannedFile[] {
  const root = repositoryRoot(folder) ?? folder
  const facts = ciFacts(folder, root)
  if (ci === 'github') {
    const path = join(root, '.github/workflows/assay.yml')
    return [{ path, content: githubWorkflow(facts), what: 'judges every push and keeps the record' }]
  }
  if (ci === 'none') return []
  return [
    {
      path: join(root, '.gitlab-ci.yml'),
      content: gitlabPipeline(facts),
      what: 'judges every push and keeps the record',
    },
  ]
}

function ignoreFile(folder: string): PlannedFile[] {
  const path = join(folder, '.gitignore')
  if (repositoryRoot(folder) === null || !existsSync(path)) return []
  const text = readTextSync(path)
  if (/^\/?\.assay\/?\s*$/m.test(text)) return []
  const separator = text === '' || text.endsWith('\n') ? '' : '\n'
  return [{ path, content: `${separator}.assay/\n`, what: '.assay/ added', appends: true }]
}

/** Also a link that leads nowhere. */
function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}

function otherConfigs(folder: string): string[] {
  return CONFIG_NAMES.filter((name) => name !== 'assay.config.ts').map((name) => join(folder, name))
}

export function shownPath(path: string, folder: string): string {
  return relative(folder, path) || '.'
}
