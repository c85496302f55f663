import { existsSync } from 'node:fs'
import { lstat, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isObject } from '../../domain/json.ts'
import { crc32File } from '../../files/disk/checksum.ts'
import { findOwner, ownedName } from '../../files/disk/process-identity.ts'
import { readText } from '../../files/disk/regular-file.ts'
import { laterMs } from '../../files/disk/ulid.ts'
import type { ContentKey, KeyParts } from '../contract.ts'
import { isMissing } from '../disk-errors.ts'
import { decodeProduct, encodeProduct } from './product-json.ts'

const SCHEMA = 'assay/product@2'

/** Lies in every product's folder, is written last, and its time is the product's last use. */
export const PRODUCT_FILE = 'product.json'

export interface StoredProduct {
  readonly value: unknown
  readonly folder: string
}

interface FileFacts {
  readonly path: string
  readonly bytes: number
  readonly crc32: number
}

interface SealedProduct {
  /** What it takes on the disk. */
  readonly bytes: number
  /** As a later reader will find it. */
  readonly value: unknown
}

/**
 * Seals a filled folder. Nothing waits for the disk: after a power cut the checksums tell what
 * did not get there.
 */
export async function sealProduct(
  folder: string,
  key: ContentKey,
  made: unknown,
  from: KeyParts = {},
): Promise<SealedProduct> {
  const files = await filesOf(folder, '')
  const value = encodeProduct(made)
  const text = JSON.stringify({ schema: SCHEMA, key, from, files, value })
  await writeFile(join(folder, PRODUCT_FILE), text)
  await touch(join(folder, PRODUCT_FILE))
  const bytes = files.reduce((sum, file) => sum + file.bytes, Buffer.byteLength(text))
  return { bytes, value: decodeProduct(value) }
}

async function filesOf(folder: string, under: string): Promise<FileFacts[]> {
  const found: FileFacts[] = []
  for (const entry of await readdir(join(folder, under), { withFileTypes: true })) {
    const path = under === '' ? entry.name : `${under}/${entry.name}`
    if (path === PRODUCT_FILE) throw new Error(`a step wrote ${PRODUCT_FILE} itself; this is a bug in its suite`)
    if (entry.isDirectory()) found.push(...(await filesOf(folder, path)))
    else if (entry.isFile()) found.push(await factsOf(folder, path))
    else throw new Error(`a step's product holds ${path}, which is no regular file; this is a bug in its suite`)
  }
  return found
}

async function factsOf(folder: string, path: string): Promise<FileFacts> {
  const file = join(folder, path)
  return { path, bytes: (await lstat(file)).size, crc32: await crc32File(file) }
}

/** Reads a product and marks it as used now. One that is being evicted counts as missing. */
export async function readProduct(folder: string, key: ContentKey): Promise<StoredProduct | 'missing' | 'damaged'> {
  const path = join(folder, PRODUCT_FILE)
  try {
    await touch(path)
    const record: unknown = JSON.parse(await readText(path))
    if (!isRecord(record) || record.key !== key || !(await filesAreWhole(folder, record.files))) return 'damaged'
    if (await isBeingEvicted(folder)) return 'missing'
    return { value: decodeProduct(record.value), folder }
  } catch (error) {
    if (isMissing(error)) return existsSync(folder) ? 'damaged' : 'missing'
    if (error instanceof SyntaxError || error instanceof TypeError) return 'damaged'
    throw error
  }
}

/** What a product was made of and which files it has, without using it; null where it is not there or not whole. */
export async function describeProduct(folder: string): Promise<ProductFacts | null> {
  try {
    const record: unknown = JSON.parse(await readText(join(folder, PRODUCT_FILE)))
    if (!isRecord(record)) return null
    const files = record.files.map(({ path, bytes }) => ({ path: join(folder, path), bytes }))
    return { from: record.from ?? {}, files }
  } catch (error) {
    if (isMissing(error) || error instanceof SyntaxError) return null
    throw error
  }
}

export interface ProductFacts {
  readonly from: KeyParts
  readonly files: readonly { readonly path: string; readonly bytes: number }[]
}

const EVICTION_MARK = 'evicting.'

/**
 * Marks, looks again, removes. A reader marks its use and then looks for this mark: whichever came first, one of the two
 * sees the other, so that nothing is removed that a reader took.
 */
export async function evictProduct(folder: string, seenUseMs: number, aside: string): Promise<boolean> {
  const mark = join(folder, `${EVICTION_MARK}${ownedName()}`)
  try {
    await writeFile(mark, '')
    if ((await useTimeMs(folder)) === seenUseMs) {
      await rename(folder, aside)
      await rm(aside, { recursive: true, force: true })
      return true
    }
    await rm(mark, { force: true })
    return false
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
}

/** When it was last used; one without its own file is damaged and counts as never used. */
export async function useTimeMs(folder: string): Promise<number> {
  return stat(join(folder, PRODUCT_FILE)).then(
    (facts) => facts.mtimeMs,
    () => 0,
  )
}

async function isBeingEvicted(folder: string): Promise<boolean> {
  const marks = (await readdir(folder)).filter((name) => name.startsWith(EVICTION_MARK))
  const owners = marks.map((name) => findOwner(name.slice(EVICTION_MARK.length), join(folder, name)))
  return owners.some((owner) => owner?.mayLive)
}

/** A use must not look older than the run that it belongs to: others would evict what it works with. */
async function touch(path: string): Promise<void> {
  const now = new Date(laterMs())
  await utimes(path, now, now).catch((error: NodeJS.ErrnoException) => {
    const ofAnotherUser = error.code === 'EPERM' || error.code === 'EACCES' || error.code === 'EROFS'
    if (!ofAnotherUser) throw error
  })
}

interface ProductRecord {
  readonly key: string
  readonly from?: KeyParts
  readonly files: readonly FileFacts[]
  readonly value: unknown
}

function isRecord(value: unknown): value is ProductRecord {
  return isObject(value) && value.schema === SCHEMA && Array.isArray(value.files) && 'value' in value
}

async function filesAreWhole(folder: string, files: readonly FileFacts[]): Promise<boolean> {
  for (const { path, bytes, crc32 } of files) {
    const file = join(folder, path)
    const facts = await lstat(file)
    if (!facts.isFile() || facts.size !== bytes || (await crc32File(file)) !== crc32) return false
  }
  return true
}
