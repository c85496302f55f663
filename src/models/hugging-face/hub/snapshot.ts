import { readdirSync } from 'node:fs'
import { link, lstat, mkdir, readlink, rm, stat, symlink } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { explainWriteError, writeFileAtomic } from '../../../files/disk/atomic.ts'
import { walkFiles } from '../../../files/disk/glob.ts'
import { readText } from '../../../files/disk/regular-file.ts'
import { isCommit, type ModelId } from './model-id.ts'

const PREFIX = 'models--'

/** Folder of one model in a cache as all tools of Hugging Face share it: blobs by content, snapshots that link to them. */
export function repositoryFolder(cacheFolder: string, id: string): string {
  return join(cacheFolder, `${PREFIX}${id.replaceAll('/', '--')}`)
}

/** Ids of models that a cache holds anything of. */
export function cachedIds(cacheFolder: string): string[] {
  try {
    const names = readdirSync(cacheFolder).filter((name) => name.startsWith(PREFIX))
    return names.map((name) => name.slice(PREFIX.length).replace('--', '/'))
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return []
    throw error
  }
}

export interface Snapshot {
  readonly folder: string
  readonly commit: string
}

/** The cached files of a model at a revision; null: none. */
export async function findSnapshot(cacheFolder: string, { id, revision }: ModelId): Promise<Snapshot | null> {
  const repository = repositoryFolder(cacheFolder, id)
  const named = isCommit(revision) ? revision : await readText(join(repository, 'refs', revision)).catch(() => '')
  const commit = named.trim()
  const folder = join(repository, 'snapshots', commit)
  const isThere = isCommit(commit) && (await stat(folder).catch(() => null))?.isDirectory()
  return isThere ? { folder, commit } : null
}

/** Files of a snapshot whose content is there, by their names in the repository. */
export function snapshotFiles({ folder }: Snapshot): string[] {
  return [...walkFiles(folder)].map((path) => relative(folder, path).split(sep).join('/'))
}

/** Makes a blob appear in a snapshot under the file's name. */
export async function placeBlob(repository: string, commit: string, name: string, blob: string): Promise<void> {
  const place = join(repository, 'snapshots', commit, name)
  const target = relative(dirname(place), join(repository, 'blobs', blob))
  try {
    await mkdir(dirname(place), { recursive: true })
    if ((await readlink(place).catch(() => null)) === target) return
    if (await lstat(place).catch(() => null)) await rm(place)
    await symlink(target, place).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') return
      // Not every system lets everybody make links that name their target.
      await link(join(repository, 'blobs', blob), place)
    })
  } catch (error) {
    throw explainWriteError(error, place)
  }
}

/** Records the commit of a branch or tag once all files are there. */
export async function writeReference(repository: string, revision: string, commit: string): Promise<void> {
  if (isCommit(revision)) return
  const file = join(repository, 'refs', revision)
  try {
    await mkdir(dirname(file), { recursive: true })
  } catch (error) {
    throw explainWriteError(error, file)
  }
  await writeFileAtomic(file, commit)
}
