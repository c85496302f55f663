import { lstat, mkdir, readdir, rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { findOwner, ownedName } from '../../files/disk/process-identity.ts'
import { ulid } from '../../files/disk/ulid.ts'
import type { RunFolder } from '../contract.ts'

/** Where Linux keeps files in memory. */
const MEMORY = '/dev/shm'
/** The kind of that file system, as `statfs` says it. */
const TMPFS = 0x01021994
const OURS = 'assay.'
/** Others need room there too. */
const SPARE_BYTES = 2 ** 26

interface RunSpaceOptions {
  /** An empty folder on the disk. */
  readonly onDisk: () => Promise<string>
  /** A file system in memory; null: there is none. */
  readonly memory?: string | null
}

/** Folders for what a run computes and nobody needs later: in memory as long as there is room, on the disk beyond that. */
export class RunSpace {
  readonly #options: RunSpaceOptions
  #own: Promise<string | null> | undefined
  #takenBytes = 0

  constructor(options: RunSpaceOptions) {
    this.#options = options
  }

  /** For so many bytes; in memory only if, with them, this run has no more than `mostBytes` there. */
  async makeFolder(bytes: number, mostBytes: number): Promise<RunFolder> {
    if (!(this.#takenBytes + bytes <= mostBytes)) return this.#onDisk()
    this.#takenBytes += bytes
    const path = await this.#inMemory(bytes)
    if (path !== null) return { path, remove: () => this.#remove(path, bytes) }
    this.#takenBytes -= bytes
    return this.#onDisk()
  }

  async close(): Promise<void> {
    const own = await this.#own
    if (own) await rm(own, { recursive: true, force: true })
  }

  async #onDisk(): Promise<RunFolder> {
    const path = await this.#options.onDisk()
    return { path, remove: () => rm(path, { recursive: true, force: true }) }
  }

  /** Whoever cannot have it there has it on the disk, whatever the reason. */
  async #inMemory(bytes: number): Promise<string | null> {
    const { memory = MEMORY } = this.#options
    this.#own ??= memory === null ? Promise.resolve(null) : openOwn(memory).catch(() => null)
    const own = await this.#own
    if (own === null || (await freeBytes(own)) < bytes + SPARE_BYTES) return null
    const path = join(own, ulid())
    return mkdir(path).then(
      () => path,
      () => null,
    )
  }

  async #remove(path: string, bytes: number): Promise<void> {
    await rm(path, { recursive: true, force: true })
    this.#takenBytes -= bytes
  }
}

/** A folder that only this user can look into. */
async function openOwn(memory: string): Promise<string | null> {
  if ((await statfs(memory)).type !== TMPFS) return null
  await removeLeftovers(memory)
  const own = join(memory, `${OURS}${ownedName()}`)
  await mkdir(own, { mode: 0o700 })
  return own
}

/** Of this user's runs that were killed. */
async function removeLeftovers(memory: string): Promise<void> {
  for (const name of await readdir(memory)) {
    if (!name.startsWith(OURS)) continue
    const path = join(memory, name)
    const owner = findOwner(name.slice(OURS.length), path)
    if (owner === null || owner.mayLive) continue
    const facts = await lstat(path).catch(() => null)
    if (facts?.isDirectory() && facts.uid === process.getuid?.()) await rm(path, { recursive: true, force: true })
  }
}

async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}
