import { existsSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative, sep } from 'node:path'
import { UsageError } from '../../domain/errors.ts'
import { walkFiles } from '../../files/disk/glob.ts'
import { readTextSync } from '../../files/disk/regular-file.ts'
import { DEFAULT_GLOB, discoverModels } from '../../suites/tensors/discover-models.ts'
import { packageVersion } from '../package-version.ts'
import type { CiFacts, CiKind } from './ci-text.ts'

/** A folder may be new, but nothing above it may be a file. */
export function checkFolder(folder: string): void {
  let nearest = folder
  while (!existsSync(nearest)) nearest = dirname(nearest)
  if (statSync(nearest).isDirectory()) return
  throw new UsageError('folder', `"${nearest}" is a file; give a folder, which may be new`)
}

/** The folder that holds .git, upwards; null: no repository. */
export function repositoryRoot(folder: string): string | null {
  if (existsSync(join(folder, '.git'))) return folder
  return dirname(folder) === folder ? null : repositoryRoot(dirname(folder))
}

/** Whether `import 'assay'` works there, as an editor and a script need it. */
export function hasAssay(folder: string): boolean {
  try {
    createRequire(join(folder, 'package.json')).resolve('assay')
    return true
  } catch {
    return false
  }
}

const NODE_VERSION = '22'

export function ciFacts(folder: string, root: string): CiFacts {
  const inside = relative(root, folder).split(sep).join('/')
  const hasManifest = existsSync(join(folder, 'package.json'))
  const install = existsSync(join(folder, 'package-lock.json')) ? 'npm ci' : 'npm install --no-package-lock'
  return {
    folder: inside,
    nodeVersion: NODE_VERSION,
    install: hasManifest ? [install] : [],
    assay: dependsOnAssay(folder) ? 'npx assay' : `npx --yes assay@${packageVersion()}`,
  }
}

function dependsOnAssay(folder: string): boolean {
  const path = join(folder, 'package.json')
  if (!existsSync(path)) return false
  try {
    const manifest = JSON.parse(readTextSync(path)) as Record<string, Record<string, unknown> | undefined>
    return [manifest.dependencies, manifest.devDependencies].some((list) => list !== undefined && 'assay' in list)
  } catch {
    // npm itself will say what is wrong with it.
    return false
  }
}

const MOST_FILES = 20_000

/** Globs for the models that lie in a folder already; the default where there are none. */
export function suggestedModels(folder: string): string[] {
  if (!existsSync(folder) || discoverModels([DEFAULT_GLOB], folder).length > 0) return [DEFAULT_GLOB]
  const globs = new Set(modelsBelow(folder).map((file) => globFor(relative(folder, file))))
  return globs.size > 0 ? [...globs] : [DEFAULT_GLOB]
}

function modelsBelow(folder: string): string[] {
  const found: string[] = []
  let seen = 0
  // A folder that cannot be read has nothing to suggest.
  for (const file of walkFiles(folder, () => {})) {
    if (++seen > MOST_FILES) break
    if (file.endsWith('.onnx')) found.push(file)
  }
  return found
}

function globFor(file: string): string {
  const [top = '', ...rest] = file.split(sep)
  return rest.length > 0 ? `${top}/**/*.onnx` : '*.onnx'
}

/** A pipeline that is there already is not touched. */
export function usualCi(folder: string): CiKind {
  const root = repositoryRoot(folder) ?? folder
  return existsSync(join(root, '.gitlab-ci.yml')) ? 'none' : 'github'
}
