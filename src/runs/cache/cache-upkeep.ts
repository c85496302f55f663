import { mkdir, readdir, rm, rmdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { folderBytes } from '../../files/disk/folder-bytes.ts'
import { findOwner, ownedName } from '../../files/disk/process-identity.ts'
import { isUlid } from '../../files/disk/ulid.ts'
import type { ContentKey } from '../contract.ts'
import { isMissing } from '../disk-errors.ts'
import { evictProduct, useTimeMs } from './stored-product.ts'

const TEMPORARY = 'tmp'
const KEY = /^[A-Za-z0-9_-]{16,128}$/

export function temporaryFolder(cacheFolder: string): string {
  return join(cacheFolder, TEMPORARY)
}

/** The place of a key. It holds the product, in a folder of its own; several where processes raced or made it anew. */
export function findProductFolder(cacheFolder: string, key: ContentKey): string {
  if (!KEY.test(key)) throw new Error(`"${key}" is no content key; this is a bug in the suite that made it`)
  return join(cacheFolder, key.slice(0, 2), key)
}

interface CacheStatus {
  readonly folder: string
  readonly products: number
  readonly bytes: number
  readonly oldestUseAt: string | null
  /** Runs that use the cache now. */
  readonly runs: number
}

interface PruneOutcome {
  readonly removed: number
  readonly removedBytes: number
  readonly products: number
  readonly bytes: number
}

interface Entry {
  readonly key: ContentKey
  readonly folder: string
  readonly bytes: number
  readonly usedAtMs: number
}

export async function cacheStatus(folder: string): Promise<CacheStatus> {
  const entries = await entriesOf(folder)
  const oldest = entries.reduce((least, entry) => Math.min(least, entry.usedAtMs), Infinity)
  return {
    folder,
    products: entries.length,
    bytes: totalBytes(entries),
    oldestUseAt: Number.isFinite(oldest) ? new Date(oldest).toISOString() : null,
    runs: (await livingOwners(folder)).length,
  }
}

interface PruneOptions {
  readonly folder: string
  readonly maxBytes: number
  readonly keep?: ReadonlySet<ContentKey>
}

/** Evicts what was used least recently until the rest fits; never what a living run has used since it began. */
export async function pruneCache(options: PruneOptions): Promise<PruneOutcome> {
  const { folder, maxBytes, keep } = options
  await removeLeftovers(folder)
  const entries = (await entriesOf(folder)).sort((a, b) => a.usedAtMs - b.usedAtMs)
  // Asked after listing: a run that used an entry before it was listed is among them.
  const inUseSinceMs = Math.min(...(await livingOwners(folder)), Infinity)
  let bytes = totalBytes(entries)
  let removed = 0
  let removedBytes = 0
  for (const entry of entries) {
    if (bytes <= maxBytes) break
    if (entry.usedAtMs >= inUseSinceMs || keep?.has(entry.key)) continue
    if (!(await evict(folder, entry))) continue
    bytes -= entry.bytes
    removedBytes += entry.bytes
    removed++
  }
  return { removed, removedBytes, products: entries.length - removed, bytes }
}

/** Removes every product that no living run uses. */
export function clearCache(folder: string): Promise<PruneOutcome> {
  return pruneCache({ folder, maxBytes: -1 })
}

async function evict(cacheFolder: string, entry: Entry): Promise<boolean> {
  await mkdir(temporaryFolder(cacheFolder), { recursive: true })
  const isGone = await evictProduct(entry.folder, entry.usedAtMs, join(temporaryFolder(cacheFolder), ownedName()))
  if (isGone) await removeIfEmpty(dirname(entry.folder))
  return isGone
}

async function removeIfEmpty(folder: string): Promise<void> {
  await rmdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST' && error.code !== 'ENOENT') throw error
  })
}

/** Removes what processes left that no longer live. */
export async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await namesIn(temporaryFolder(folder))) {
    const path = join(temporaryFolder(folder), name)
    const owner = findOwner(name, path)
    if (owner && !owner.mayLive) await rm(path, { recursive: true, force: true })
  }
}

/** Since when each living run uses the cache. */
async function livingOwners(folder: string): Promise<number[]> {
  const CLOCK_SLACK_MS = 1000
  const names = await namesIn(temporaryFolder(folder))
  const owners = names.map((name) => findOwner(name, join(temporaryFolder(folder), name)))
  return owners.flatMap((owner) => (owner?.mayLive ? [owner.sinceMs - CLOCK_SLACK_MS] : []))
}

async function entriesOf(folder: string): Promise<Entry[]> {
  const entries: Entry[] = []
  for (const start of await namesIn(folder)) {
    if (start.length !== 2) continue
    for (const key of await namesIn(join(folder, start))) {
      if (KEY.test(key) && key.startsWith(start)) entries.push(...(await entriesUnder(join(folder, start, key), key)))
    }
  }
  return entries
}

async function entriesUnder(shelf: string, key: ContentKey): Promise<Entry[]> {
  const entries: Entry[] = []
  for (const folder of await productsOn(shelf)) {
    try {
      entries.push({ key, folder, bytes: await folderBytes(folder), usedAtMs: await useTimeMs(folder) })
    } catch (error) {
      if (!isMissing(error)) throw error
    }
  }
  return entries
}

/** Folders of the products of one key, newest first. */
export async function productsOn(shelf: string): Promise<string[]> {
  const names = (await namesIn(shelf)).filter(isUlid)
  return names
    .sort()
    .reverse()
    .map((name) => join(shelf, name))
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

function totalBytes(entries: readonly Entry[]): number {
  return entries.reduce((sum, entry) => sum + entry.bytes, 0)
}
