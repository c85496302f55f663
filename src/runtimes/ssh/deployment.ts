import { createHash } from 'node:crypto'
import { readdir, realpath, stat } from 'node:fs/promises'
import { basename, join, relative, sep } from 'node:path'
import { fileChunks } from '../../files/disk/regular-file.ts'
import { type TarFile, tarByteLength, tarChunks } from '../../files/formats/tar.ts'
import { BoardError } from './board-command.ts'

/** What `deploy=` sends: one file, or a folder as an archive, known by its content. */
export interface Deployment {
  readonly kind: 'file' | 'folder'
  readonly name: string
  readonly digest: string
  readonly byteLength: number
  chunks(): AsyncIterable<Uint8Array>
}

export async function packDeployment(path: string): Promise<Deployment> {
  const found = await stat(path).catch(() => null)
  if (found?.isFile()) return withDigest('file', path, found.size, () => fileChunks(path))
  if (!found?.isDirectory()) throw new BoardError(`deploy=${path} is neither a file nor a folder`)
  const files = await filesIn(await realpath(path))
  if (files.length === 0) throw new BoardError(`deploy=${path} is an empty folder`)
  return withDigest('folder', path, tarByteLength(files), () => tarChunks(files))
}

async function withDigest(
  kind: Deployment['kind'],
  path: string,
  byteLength: number,
  chunks: () => AsyncIterable<Uint8Array>,
): Promise<Deployment> {
  const hash = createHash('sha256')
  for await (const chunk of chunks()) hash.update(chunk)
  return { kind, name: basename(path), digest: hash.digest('hex'), byteLength, chunks }
}

/** Links are followed inside the folder; one that leads out of it would send what nobody meant to send. */
async function filesIn(folder: string): Promise<TarFile[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => !entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name))
  const files: TarFile[] = []
  for (const path of paths.sort()) {
    const real = await realpath(path).catch(() => path)
    if (!real.startsWith(folder + sep)) throw new BoardError(`deploy: ${path} leads out of ${folder}`)
    const found = await stat(path).catch(() => null)
    if (!found?.isFile()) throw new BoardError(`deploy: ${path} is not a file`)
    const name = relative(folder, path).replaceAll(sep, '/')
    files.push({ name, path, byteLength: found.size, isExecutable: (found.mode & 0o111) !== 0 })
  }
  return files
}
