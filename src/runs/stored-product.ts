import { existsSync } from 'node:fs'
import { lstat, open, readdir, readFile, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ContentKey } from './contract.ts'
import { isMissing } from './disk-errors.ts'
import { decodeProduct, encodeProduct } from './product-json.ts'

const SCHEMA = 'assay/product@1'

/** Lies in every product's folder, is written last, and its time is the product's last use. */
export const PRODUCT_FILE = 'product.json'

export interface StoredProduct {
  readonly value: unknown
  readonly folder: string
}

interface FileFacts {
  readonly path: string
  readonly bytes: number
}

/** Seals a filled folder: everything is on the disk when this returns. Gives the bytes it takes. */
export async function sealProduct(folder: string, key: ContentKey, value: unknown): Promise<number> {
  const files = await filesOf(folder, '')
  const text = JSON.stringify({ schema: SCHEMA, key, files, value: encodeProduct(value) })
  await writeFile(join(folder, PRODUCT_FILE), text)
  for (const file of files) await sync(join(folder, file.path))
  await sync(join(folder, PRODUCT_FILE))
  await sync(folder)
  return files.reduce((sum, file) => sum + file.bytes, Buffer.byteLength(text))
}

async function filesOf(folder: string, under: string): Promise<FileFacts[]> {
  const found: FileFacts[] = []
  for (const entry of await readdir(join(folder, under), { withFileTypes: true })) {
    const path = under === '' ? entry.name : `${under}/${entry.name}`
    if (path === PRODUCT_FILE) throw new Error(`a step wrote ${PRODUCT_FILE} itself; this is a bug in its suite`)
    if (entry.isDirectory()) found.push(...(await filesOf(folder, path)))
    else if (entry.isFile()) found.push({ path, bytes: (await lstat(join(folder, path))).size })
    else throw new Error(`a step's product holds ${path}, which is no regular file; this is a bug in its suite`)
  }
  return found
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Reads a product and marks it as used now. */
export async function readProduct(folder: string, key: ContentKey): Promise<StoredProduct | 'missing' | 'damaged'> {
  const path = join(folder, PRODUCT_FILE)
  try {
    await touch(path)
    const record: unknown = JSON.parse(await readFile(path, 'utf8'))
    if (!isRecord(record) || record.key !== key || !(await filesAreWhole(folder, record.files))) return 'damaged'
    return { value: decodeProduct(record.value), folder }
  } catch (error) {
    if (isMissing(error)) return existsSync(folder) ? 'damaged' : 'missing'
    if (error instanceof SyntaxError || error instanceof TypeError) return 'damaged'
    throw error
  }
}

/** Before reading, so that an eviction that goes on meanwhile sees the use and puts the product back. */
async function touch(path: string): Promise<void> {
  const now = new Date()
  await utimes(path, now, now).catch((error: NodeJS.ErrnoException) => {
    const ofAnotherUser = error.code === 'EPERM' || error.code === 'EACCES' || error.code === 'EROFS'
    if (!ofAnotherUser) throw error
  })
}

interface ProductRecord {
  readonly key: string
  readonly files: readonly FileFacts[]
  readonly value: unknown
}

function isRecord(value: unknown): value is ProductRecord {
  if (typeof value !== 'object' || value === null) return false
  const { schema, files } = value as { schema?: unknown; files?: unknown }
  return schema === SCHEMA && Array.isArray(files) && 'value' in value
}

async function filesAreWhole(folder: string, files: readonly FileFacts[]): Promise<boolean> {
  for (const { path, bytes } of files) {
    const facts = await lstat(join(folder, path))
    if (!facts.isFile() || facts.size !== bytes) return false
  }
  return true
}
