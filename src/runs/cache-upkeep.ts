import { lstat, mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { ContentKey } from './contract.ts'
import { isMissing } from './disk-errors.ts'
import { ownedName, ownerOf } from './process-identity.ts'
import { PRODUCT_FILE } from './stored-product.ts'

const TEMPORARY = 'tmp'
const KEY = /^[A-Za-z0-9_-]{16,128}$/

export function temporaryFolder(cacheFolder: string): string {
  return join(cacheFolder, TEMPORARY)
}

export function productFolder(cacheFolder: string, key: ContentKey): string {
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
  await removeLeftovers(options.folder)
  const inUseSinceMs = Math.min(...(await livingOwners(options.folder)), Infinity)
  const entries = (await entriesOf(options.folder)).sort((a, b) => a.usedAtMs - b.usedAtMs)
  let bytes = totalBytes(entries)
  let removed = 0
  let removedBytes = 0
  for (const entry of entries) {
    if (bytes <= options.maxBytes) break
    if (entry.usedAtMs >= inUseSinceMs || options.keep?.has(entry.key)) continue
    if (!(await evict(options.folder, entry))) continue
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
  const aside = join(temporaryFolder(cacheFolder), ownedName())
  try {
    await mkdir(temporaryFolder(cacheFolder), { recursive: true })
    await rename(entry.folder, aside)
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
  const usedMeanwhile = (await useTimeMs(aside)) !== entry.usedAtMs
  if (usedMeanwhile && (await moveUnlessThere(aside, entry.folder))) return false
  await rm(aside, { recursive: true, force: true })
  return true
}

/** Whoever came first keeps the place. */
export async function moveUnlessThere(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to)
    return true
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'ENOTEMPTY' || code === 'EEXIST') return false
    throw error
  }
}

/** Removes what processes left that no longer live. */
export async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await namesIn(temporaryFolder(folder))) {
    const path = join(temporaryFolder(folder), name)
    const owner = ownerOf(name, path)
    if (owner && !owner.mayLive) await rm(path, { recursive: true, force: true })
  }
}

/** Since when each living run uses the cache. */
async function livingOwners(folder: string): Promise<number[]> {
  const CLOCK_SLACK_MS = 1000
  const names = await namesIn(temporaryFolder(folder))
  const owners = names.map((name) => ownerOf(name, join(temporaryFolder(folder), name)))
  return owners.flatMap((owner) => (owner?.mayLive ? [owner.sinceMs - CLOCK_SLACK_MS] : []))
}

async function entriesOf(folder: string): Promise<Entry[]> {
  const entries: Entry[] = []
  for (const shelf of await namesIn(folder)) {
    if (shelf === TEMPORARY || shelf.length !== 2) continue
    for (const key of await namesIn(join(folder, shelf))) {
      if (!KEY.test(key) || !key.startsWith(shelf)) continue
      const entry = await entryAt(join(folder, shelf, key), key)
      if (entry) entries.push(entry)
    }
  }
  return entries
}

async function entryAt(folder: string, key: ContentKey): Promise<Entry | null> {
  try {
    return { key, folder, bytes: await bytesIn(folder), usedAtMs: await useTimeMs(folder) }
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

/** A product without its own file is damaged and counts as never used. */
async function useTimeMs(folder: string): Promise<number> {
  return stat(join(folder, PRODUCT_FILE)).then(
    (facts) => facts.mtimeMs,
    () => 0,
  )
}

async function bytesIn(folder: string): Promise<number> {
  let bytes = 0
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    bytes += entry.isDirectory() ? await bytesIn(path) : (await lstat(path)).size
  }
  return bytes
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
