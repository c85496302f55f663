import { createHash, randomBytes } from 'node:crypto'
import { appendFile, lstat, mkdir, readdir, rename, rm, rmdir, unlink, writeFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { UsageError } from '../../domain/errors.ts'
import { explainWriteError } from './atomic.ts'
import { readText } from './regular-file.ts'

/** Whose files they are: the option that writes them, such as `--debug-ir`. */
interface Owner {
  readonly option: string
  /** Name of the file that lists what was written. */
  readonly marker: string
}

const FILE_NAME = /^[\w@=,+~.-]{1,200}$/
const SCRATCH = /^\.scratch-[0-9a-f]{12}$/

/** A folder of the user's in which only what is listed in a marker file is ours, to be removed by a later run. */
export class OwnedFolder {
  readonly path: string
  /** The path as shown to people. */
  readonly shown: string
  readonly #marker: string
  readonly #names = new Map<string, string>()

  private constructor(path: string, shown: string, marker: string) {
    this.path = path
    this.shown = shown
    this.#marker = marker
  }

  /** Refuses a folder that holds anything; with `force`, removes what an earlier run wrote there and nothing else. */
  static async claim(path: string, owner: Owner, force: boolean, shown = path): Promise<OwnedFolder> {
    const found = await entriesOf(path, owner, shown)
    if (found.length > 0 && !force) throw notEmpty(shown, owner, found)
    const marker = join(path, owner.marker)
    try {
      await mkdir(path, { recursive: true })
      await removeListed(path, marker)
      await writeFile(marker, `Written by assay ${owner.option}, which removes only the files listed here.\n`, {
        flag: 'wx',
      })
    } catch (error) {
      throw explainWriteError(error, shown)
    }
    return new OwnedFolder(path, shown, marker)
  }

  /** A folder inside, named after any text as far as file systems allow; different texts have different folders. */
  async folderFor(text: string): Promise<string> {
    const plain = plainName(text)
    const owner = this.#names.get(plain.toLowerCase())
    const name = owner === undefined || owner === text ? plain : `${plain.slice(0, 100)}~${shortDigest(text)}`
    this.#names.set(name.toLowerCase(), text)
    await this.#explained(name, () => mkdir(join(this.path, name), { recursive: true }))
    return name
  }

  /** Never replaces a file that is not ours. */
  async write(name: string, data: Uint8Array | string): Promise<void> {
    await this.#list(name)
    await this.#explained(name, () => writeFile(join(this.path, name), data, { flag: 'wx' }))
  }

  /** Adds to a file that was written before. */
  async append(name: string, text: string): Promise<void> {
    await this.#explained(name, () => appendFile(join(this.path, name), text))
  }

  /** Takes a file over that lies in a scratch folder. */
  async adopt(name: string, from: string): Promise<void> {
    const place = join(this.path, name)
    if (await lstat(place).catch(() => null)) throw inTheWay(join(this.shown, name))
    await this.#list(name)
    await this.#explained(name, () => rename(from, place))
  }

  /** For files that are not complete yet; to be removed by the caller. */
  async scratch(): Promise<{ readonly path: string; remove(): Promise<void> }> {
    const name = `.scratch-${randomBytes(6).toString('hex')}`
    const path = resolve(this.path, name)
    await this.#list(name)
    await this.#explained(name, () => mkdir(path))
    return { path, remove: () => rm(path, { recursive: true, force: true }) }
  }

  #list(name: string): Promise<void> {
    return this.#explained(name, () => appendFile(this.#marker, `${name}\n`))
  }

  async #explained(name: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work()
    } catch (error) {
      const place = join(this.shown, name)
      const isThere = error instanceof Error && 'code' in error && error.code === 'EEXIST'
      throw isThere ? inTheWay(place) : explainWriteError(error, place)
    }
  }
}

function plainName(text: string): string {
  const plain = text.replace(/[^\w@=,+.-]+/g, '_').replace(/^\.+/, '_')
  return plain.length <= 120 ? plain : `${plain.slice(0, 60)}~${shortDigest(text)}~${plain.slice(-40)}`
}

function shortDigest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8)
}

async function entriesOf(path: string, { option }: Owner, shown: string): Promise<string[]> {
  try {
    return await readdir(path)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : ''
    if (code === 'ENOENT') return []
    if (code === 'ENOTDIR') throw new UsageError('folder', `${option}: ${shown} is a file, expected a folder`)
    throw explainWriteError(error, shown)
  }
}

function notEmpty(shown: string, { option, marker }: Owner, found: readonly string[]): UsageError {
  const isOurs = found.includes(marker)
  const what = isOurs
    ? `holds what an earlier ${option} wrote`
    : `is not empty (${found.length === 1 ? '1 entry' : `${found.length} entries`})`
  const advice = isOurs ? '--force removes those files and no others' : '--force writes beside the existing files'
  return new UsageError('folder', `${option}: ${shown} ${what}; give another folder, or ${advice}`)
}

function inTheWay(place: string): UsageError {
  return new UsageError(
    'folder',
    `${place} already exists and was not written by this run; move it or give another folder`,
  )
}

/** The marker may hold anything by now, so only plain names count, and nothing is reached through a link. */
async function removeListed(path: string, marker: string): Promise<void> {
  const text = await readText(marker).catch(() => null)
  if (text === null) return
  const folders = new Set<string>()
  for (const name of text.split('\n').slice(1)) {
    if (SCRATCH.test(name)) await removeScratch(join(path, name))
    const parts = name.split('/')
    if (parts.length > 2 || !parts.every((part) => FILE_NAME.test(part) && !/^\.+$/.test(part))) continue
    await removeFile(path, name)
    if (parts.length === 2) folders.add(dirname(join(path, name)))
  }
  for (const folder of folders) await rmdir(folder).catch(() => undefined)
  await unlink(marker)
}

async function removeScratch(place: string): Promise<void> {
  const found = await lstat(place).catch(() => null)
  if (found?.isDirectory()) await rm(place, { recursive: true })
}

async function removeFile(path: string, name: string): Promise<void> {
  const place = join(path, name)
  const folder = await lstat(dirname(place)).catch(() => null)
  const isInside = relative(path, dirname(place)) === '' || folder?.isDirectory()
  const found = isInside ? await lstat(place).catch(() => null) : null
  if (found?.isFile()) await unlink(place)
}
