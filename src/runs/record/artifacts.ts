import { constants, copyFile, lstat, mkdir, readdir, rename, rm } from 'node:fs/promises'
import { extname, join, relative } from 'node:path'
import { FormatError } from '../../domain/errors.ts'
import type { Artifact } from '../../domain/result.ts'
import { sha256File } from '../../files/disk/digest.ts'
import { syncFile } from '../../files/disk/sync.ts'
import { ulid } from '../../files/disk/ulid.ts'
import { PRODUCT_FILE } from '../cache/stored-product.ts'
import { isMissing } from '../disk-errors.ts'

export const ARTIFACTS_FOLDER = 'artifacts'

/** Copies a file into the run's artifacts, under the digest of what was copied. */
export async function keepArtifact(runFolder: string, name: string, path: string): Promise<Artifact> {
  const folder = join(runFolder, ARTIFACTS_FOLDER)
  await mkdir(folder, { recursive: true })
  const copy = join(folder, `.${ulid()}.tmp`)
  try {
    await copyFile(path, copy, constants.COPYFILE_FICLONE)
    const sha256 = await sha256File(copy)
    const { size: bytes } = await lstat(copy)
    const kept = `${ARTIFACTS_FOLDER}/${sha256}${extensionOf(name)}`
    await syncFile(copy)
    await rename(copy, join(runFolder, kept))
    return { name, path: kept, bytes, sha256 }
  } finally {
    await rm(copy, { force: true })
  }
}

/** Keeps all files of a folder, named after the step that made them. */
export async function keepFiles(runFolder: string, title: string, folder: string): Promise<Artifact[]> {
  const kept: Artifact[] = []
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile() || entry.name === PRODUCT_FILE) continue
    const path = join(entry.parentPath, entry.name)
    kept.push(await keepArtifact(runFolder, `${title}/${relative(folder, path)}`, path))
  }
  return kept
}

/** The name comes from a model or a file of the user; only a harmless ending of it reaches the disk. */
function extensionOf(name: string): string {
  const extension = extname(name)
  return /^\.[A-Za-z0-9]{1,16}$/.test(extension) ? extension : ''
}

/** Where an artifact of a run lies. The record is not trusted. */
export async function artifactPath({ path }: Artifact, runFolder: string): Promise<string> {
  if (!/^artifacts\/[0-9a-f]{64}(\.[A-Za-z0-9]{1,16})?$/.test(path)) {
    throw new FormatError(
      'artifact',
      `${runFolder} names an artifact ${JSON.stringify(path)}, which is no place in a record`,
    )
  }
  await refuseIrregular(join(runFolder, path))
  return join(runFolder, path)
}

/** Copies an artifact from one run's folder to another's. The record it comes from is not trusted. */
export async function copyArtifact(artifact: Artifact, fromFolder: string, toFolder: string): Promise<void> {
  const { path, sha256 } = artifact
  const source = await artifactPath(artifact, fromFolder)
  const copied = await keepArtifact(toFolder, path, source)
  if (copied.sha256 !== sha256 || copied.path !== path) {
    await rm(join(toFolder, copied.path), { force: true })
    throw new FormatError('artifact', `${source} is damaged: its content is not what its name says`)
  }
}

async function refuseIrregular(path: string): Promise<void> {
  try {
    if ((await lstat(path)).isFile()) return
  } catch (error) {
    if (!isMissing(error)) throw error
  }
  throw new FormatError('artifact', `${path} is missing or no regular file; copy the whole folder of the run`)
}
