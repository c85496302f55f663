import { existsSync, readdirSync, statSync } from 'node:fs'
import { basename, dirname, extname, join, relative, resolve, sep } from 'node:path'
import { UsageError } from '../../domain/errors.ts'
import { globRoot, globToRegExp, isGlob, walkFiles } from '../../files/glob.ts'
import { nearFile } from '../../files/near-file.ts'
import { configOf } from '../../models/hugging-face.ts'

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

export const DEFAULT_GLOB = 'models/**/*.onnx'

/** Finds models from files, folders and globs, relative to `cwd`. */
export function discoverModels(paths: readonly string[], cwd: string): FoundModel[] {
  const patterns = paths.length > 0 ? paths : [DEFAULT_GLOB]
  const candidates = new Map<string, Candidate>()
  for (const pattern of patterns) {
    for (const found of candidatesOf(pattern, cwd)) if (!candidates.has(found.path)) candidates.set(found.path, found)
  }
  return nameModels([...candidates.values()], cwd)
}

/** A mistyped path is refused without a look at what lies below the others. */
export function refuseMissing(paths: readonly string[], cwd: string): void {
  for (const pattern of paths) {
    const path = resolve(cwd, pattern)
    if (!existsSync(path) && !isGlob(pattern)) missing(pattern, path)
  }
}

function candidatesOf(pattern: string, cwd: string): Candidate[] {
  const path = resolve(cwd, pattern)
  if (!existsSync(path)) return isGlob(pattern) ? globCandidates(pattern, cwd) : missing(pattern, path)
  if (!statSync(path).isDirectory()) return configOf(path) === path ? [] : [{ path, root: dirname(path) }]
  const models = [...walkFiles(path)].filter((file) => extname(file) === '.onnx')
  return models.map((file) => ({ path: file, root: path }))
}

function globCandidates(pattern: string, cwd: string): Candidate[] {
  const root = resolve(cwd, globRoot(pattern))
  if (!existsSync(root)) return []
  const matches = globToRegExp(resolve(cwd, pattern).split(sep).join('/'))
  const models = [...walkFiles(root)].filter((file) => matches.test(file.split(sep).join('/')))
  return models.map((path) => ({ path, root }))
}

function missing(pattern: string, path: string): never {
  const near = nearFile(path)
  const advice =
    near === null
      ? 'give an .onnx file, a folder or a quoted glob'
      : `did you mean "${join(dirname(pattern), basename(near))}"?`
  throw new UsageError('path', `no file or folder "${pattern}"; ${advice}`)
}

function dataSetsOf(path: string): string[] {
  const folder = dirname(path)
  if (basename(path) !== 'model.onnx') return []
  const sets = readdirSync(folder, { withFileTypes: true }).filter(
    (entry) => entry.isDirectory() && /^test_data_set_\d+$/.test(entry.name),
  )
  const number = (name: string) => Number(name.slice('test_data_set_'.length))
  return sets
    .map((entry) => entry.name)
    .sort((a, b) => number(a) - number(b))
    .map((name) => join(folder, name))
}

function nameModels(candidates: readonly Candidate[], cwd: string): FoundModel[] {
  const models = candidates.map((candidate) => {
    const dataSets = dataSetsOf(candidate.path)
    return { name: nameOf(candidate, dataSets.length > 0), path: candidate.path, dataSets }
  })
  const uses = new Map<string, number>()
  for (const model of models) uses.set(model.name, (uses.get(model.name) ?? 0) + 1)
  return models.map((model) => (uses.get(model.name) === 1 ? model : { ...model, name: fromFolder(model.path, cwd) }))
}

function nameOf({ path, root }: Candidate, testLayout: boolean): string {
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
