import { createHash } from 'node:crypto'
import { readdir, readlink, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { StageError } from '../../../domain/errors.ts'
import { cleanText } from '../../../domain/text.ts'
import { fileChunks } from '../../../files/disk/regular-file.ts'

export interface CheckpointSum {
  readonly bytes: number
  readonly sha256: string
}

const MAX_DEPTH = 64

/** Digest of a file's content, or of the names and contents of all files in a folder, in a fixed order. */
export async function checkpointSum(path: string): Promise<CheckpointSum> {
  if (await isFile(path)) return fileSum(path)
  const hash = createHash('sha256')
  let bytes = 0
  for await (const { name, content } of entriesOf(path, fileSum)) {
    hash.update(JSON.stringify([name, content]))
    if (typeof content !== 'string') bytes += content.bytes
  }
  return { bytes, sha256: hash.digest('hex') }
}

/** Sizes and times of all its files; equal if nothing was written since. */
export async function checkpointStamp(path: string): Promise<string> {
  if (await isFile(path)) return fileStamp(path)
  const stamps: string[][] = []
  for await (const { name, content } of entriesOf(path, fileStamp)) stamps.push([name, content])
  return JSON.stringify(stamps)
}

async function isFile(path: string): Promise<boolean> {
  const found = await stat(path)
  if (!found.isFile() && !found.isDirectory())
    throw new StageError('inputs', `checkpoint ${cleanText(path)} is neither a file nor a folder`)
  return found.isFile()
}

interface Entry<T> {
  readonly name: string
  /** Of a link to a folder, where it leads. */
  readonly content: T | string
}

async function* entriesOf<T>(
  folder: string,
  look: (file: string) => Promise<T>,
  prefix = '',
  depth = 0,
): AsyncGenerator<Entry<T>> {
  if (depth > MAX_DEPTH) throw new StageError('inputs', `checkpoint folder ${cleanText(folder)} is nested too deep`)
  const entries = await readdir(folder, { withFileTypes: true })
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const [place, name] = [join(folder, entry.name), `${prefix}${entry.name}`]
    if (entry.isDirectory()) yield* entriesOf(place, look, `${name}/`, depth + 1)
    else if ((await stat(place).catch(() => null))?.isFile()) yield { name, content: await look(place) }
    else if (entry.isSymbolicLink()) yield { name, content: await readlink(place) }
    else throw new StageError('inputs', `checkpoint ${cleanText(place)} is neither a file nor a folder`)
  }
}

async function fileStamp(path: string): Promise<string> {
  const { size, mtimeNs } = await stat(path, { bigint: true })
  return `${size} ${mtimeNs}`
}

async function fileSum(path: string): Promise<CheckpointSum> {
  const hash = createHash('sha256')
  let bytes = 0
  for await (const chunk of fileChunks(path)) {
    hash.update(chunk)
    bytes += chunk.length
  }
  return { bytes, sha256: hash.digest('hex') }
}
