import { createHash } from 'node:crypto'
import { mkdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { rememberSuccess } from '../../domain/remember.ts'
import { writeFileAtomic } from './atomic.ts'
import { fileChunks, readText } from './regular-file.ts'

/** sha256 of a file's content, in hex, without holding the file. */
export async function sha256File(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of fileChunks(path)) hash.update(chunk)
  return hash.digest('hex')
}

/** Only weights of many gigabytes take seconds to read. */
const LARGE_BYTES = 2 ** 26
/** A file may change twice within the resolution of its timestamps. */
const SETTLED_MS = 2000

/** Digests a file again only if it changed; digests of large files are kept in a folder for later runs. */
export class FileDigests {
  readonly #known = new Map<string, Promise<string>>()
  readonly #folder: string | null
  readonly #largeBytes: number

  constructor(folder: string | null = null, largeBytes = LARGE_BYTES) {
    this.#folder = folder
    this.#largeBytes = largeBytes
  }

  async of(path: string): Promise<string> {
    const { dev, ino, size, mtimeMs, ctimeMs } = await stat(path)
    const identity = JSON.stringify([path, dev, ino, size, mtimeMs, ctimeMs])
    const isKept = size >= this.#largeBytes && Date.now() - mtimeMs > SETTLED_MS
    return rememberSuccess(this.#known, identity, () => (isKept ? this.#kept(path, identity) : sha256File(path)))
  }

  async #kept(path: string, identity: string): Promise<string> {
    if (this.#folder === null) return sha256File(path)
    const file = join(this.#folder, `${computeDigest(identity)}.sha256`)
    const kept = await readText(file).catch(() => '')
    if (/^[0-9a-f]{64}$/.test(kept)) return kept
    const digest = await sha256File(path)
    // If it cannot be kept, the file is read again next time.
    await mkdir(this.#folder, { recursive: true })
      .then(() => writeFileAtomic(file, digest))
      .catch(() => {})
    return digest
  }
}

/** sha256 of bytes, or of a JSON-able value whatever the order of its keys. */
export function computeDigest(value: unknown): string {
  const hash = createHash('sha256')
  return hash.update(value instanceof Uint8Array ? value : canonicalJson(value)).digest('hex')
}

/** JSON with sorted keys in which NaN, infinities, −0, bigints and bytes have distinct forms. */
function canonicalJson(value: unknown): string {
  if (value === undefined || typeof value === 'function' || typeof value === 'symbol') {
    throw new TypeError(`cannot digest ${typeof value}; a content key needs plain data`)
  }
  if (typeof value === 'bigint') return `{"$bigint":"${value}"}`
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0) ? String(value) : special(value)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (value instanceof Uint8Array) return `{"$bytes":"${computeDigest(value)}"}`
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  return canonicalObject(value)
}

function special(value: number): string {
  return `{"$number":"${Object.is(value, -0) ? '-0' : value}"}`
}

function canonicalObject(value: object): string {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) {
    throw new TypeError(`cannot digest a ${value.constructor.name}; a content key needs plain data`)
  }
  const pairs = Object.entries(value).filter(([, item]) => item !== undefined)
  pairs.sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${pairs.map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item)}`).join(',')}}`
}
