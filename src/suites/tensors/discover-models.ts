import { type Dirent, existsSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, extname, join, relative, resolve, sep } from 'node:path'
import { UsageError } from '../../domain/errors.ts'
import { suggest } from '../../domain/suggest.ts'
import { compileGlob, globRoot, isGlob, walkFiles } from '../../files/disk/glob.ts'
import { nearFile } from '../../files/disk/near-file.ts'
import { unreadableText, whyUnreadable } from '../../files/disk/unreadable.ts'
import { findConfig } from '../../models/hugging-face/model-folder.ts'

export interface FoundModel {
  /** The model's part of the case id. */
  readonly name: string
  readonly path: string
  /** Folders with recorded inputs and outputs, in order; empty where inputs are generated. */
  readonly dataSets: readonly string[]
}

interface Candidate {
  readonly path: string
  readonly root: string
}

/** A place below a named path that could not be searched. */
export interface LeftOut {
  readonly path: string
  readonly why: string
}

export const DEFAULT_GLOB = 'models/**/*.onnx'
/** Where the documented workflow of Torq keeps its models. */
const DOCUMENTED_FOLDER = 'tests/testdata/onnx_models'

/** Where models are looked for when nobody says where. */
export function defaultGlobs(cwd: string): string[] {
  const isThere = existsSync(resolve(cwd, DOCUMENTED_FOLDER))
  return [DEFAULT_GLOB, ...(isThere ? [`${DOCUMENTED_FOLDER}/**/*.onnx`] : [])]
}

/** Folders that were named in another way than by their path, with that name. */
export type FolderNames = ReadonlyMap<string, string>

/** Names for folders, and a list for places that could not be searched. */
interface Search {
  readonly names?: FolderNames | undefined
  readonly leftOut?: LeftOut[]
}

/**
 * Finds models from files, folders and globs, relative to `cwd`. A model that cannot be read is among them, and its
 * case says why; `leftOut` gets what may hide some.
 */
export function discoverModels(paths: readonly string[], cwd: string, search: Search = {}): FoundModel[] {
  const { names = new Map(), leftOut = [] } = search
  const patterns = paths.length > 0 ? paths : defaultGlobs(cwd)
  const candidates = new Map<string, Candidate>()
  for (const pattern of patterns) {
    for (const found of candidatesOf(pattern, cwd, leftOut)) {
      const place = placeOf(found.path)
      if (!candidates.has(place)) candidates.set(place, found)
    }
  }
  return nameModels([...candidates.values()], cwd, names)
}

/** Through whatever linked folders it was reached. A link to a file is a model of its own, with data of its own beside it. */
function placeOf(path: string): string {
  return join(realpathSync(dirname(path)), basename(path))
}

/** Refuses mistyped or unreadable paths before any folder is searched. */
export function refuseMissing(paths: readonly string[], cwd: string): void {
  for (const pattern of paths) refuseUnusable(pattern, cwd)
}

function refuseUnusable(pattern: string, cwd: string): void {
  const path = resolve(cwd, pattern)
  const isPattern = isGlob(pattern) && !existsSync(path)
  const why = whyUnreadable(isPattern ? globRoot(path) : path)
  if (why !== null) throw new UsageError('path', `"${isPattern ? globRoot(pattern) : pattern}" ${why}`)
  if (!isPattern && !existsSync(path)) throw missing(pattern, cwd)
}

function candidatesOf(pattern: string, cwd: string, leftOut: LeftOut[]): Candidate[] {
  const path = resolve(cwd, pattern)
  refuseUnusable(pattern, cwd)
  if (!existsSync(path)) return globCandidates(pattern, cwd, leftOut)
  if (!statSync(path).isDirectory()) return findConfig(path) === path ? [] : [{ path, root: dirname(path) }]
  return modelsBelow(path, (file) => extname(file) === '.onnx', leftOut)
}

function globCandidates(pattern: string, cwd: string, leftOut: LeftOut[]): Candidate[] {
  const root = resolve(cwd, globRoot(pattern))
  if (!existsSync(root)) return []
  const matches = compileGlob(resolve(cwd, pattern).split(sep).join('/'))
  return modelsBelow(root, (file) => matches.test(file.split(sep).join('/')), leftOut)
}

function modelsBelow(root: string, isModel: (file: string) => boolean, leftOut: LeftOut[]): Candidate[] {
  const broken: string[] = []
  const files = walkFiles(root, (path, error) => {
    if (isModel(path)) broken.push(path)
    else leftOut.push({ path, why: unreadableText(path, error) })
  })
  return [...[...files].filter(isModel), ...broken].map((path) => ({ path, root }))
}

function missing(pattern: string, cwd: string): UsageError {
  const near = nearFile(pattern, cwd)
  const advice = suggest(near && `"${near}"`, 'give an .onnx file, a folder or a quoted glob')
  return new UsageError('path', `no file or folder "${pattern}"; ${advice}`)
}

function dataSetsOf(path: string): string[] {
  const folder = dirname(path)
  if (basename(path) !== 'model.onnx') return []
  const sets = listed(folder).filter(
    (entry) => (entry.isDirectory() || entry.isSymbolicLink()) && /^test_data_set_\d+$/.test(entry.name),
  )
  const number = (name: string) => Number(name.slice('test_data_set_'.length))
  return sets
    .map((entry) => entry.name)
    .sort((a, b) => number(a) - number(b))
    .map((name) => join(folder, name))
}

/** Without the list nobody knows whether outputs were recorded; walks do not come to a model there, so it was named. */
function listed(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    throw new UsageError('path', `"${folder}" ${unreadableText(folder, error)}`, { cause: error })
  }
}

function nameModels(candidates: readonly Candidate[], cwd: string, names: FolderNames): FoundModel[] {
  const models = candidates.map((candidate) => {
    const dataSets = dataSetsOf(candidate.path)
    return { name: nameOf(candidate, dataSets.length > 0, names), path: candidate.path, dataSets }
  })
  const uses = new Map<string, number>()
  for (const model of models) uses.set(model.name, (uses.get(model.name) ?? 0) + 1)
  return models.map((model) => (uses.get(model.name) === 1 ? model : { ...model, name: fromFolder(model.path, cwd) }))
}

function nameOf({ path, root }: Candidate, testLayout: boolean, names: FolderNames): string {
  if (names.has(root)) return `${names.get(root)}/${withoutExtension(relative(root, path))}`
  return testLayout ? basename(dirname(path)) : withoutExtension(relative(root, path))
}

function fromFolder(path: string, cwd: string): string {
  return withoutExtension(relative(cwd, path))
}

function withoutExtension(path: string): string {
  return path
    .slice(0, path.length - extname(path).length)
    .split(sep)
    .join('/')
}
