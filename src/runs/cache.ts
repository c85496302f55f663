import { mkdir, rename, rm, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { explainWriteError } from '../files/atomic.ts'
import { describeError } from './blame.ts'
import { moveUnlessThere, productFolder, pruneCache, removeLeftovers, temporaryFolder } from './cache-upkeep.ts'
import type { ContentKey } from './contract.ts'
import { ownedName } from './process-identity.ts'
import { readProduct, type StoredProduct, sealProduct } from './stored-product.ts'

const DEFAULT_CACHE_BYTES = 10e9
const SIGN_OF_LIFE_MS = 600_000

interface CacheOptions {
  readonly folder: string
  readonly maxBytes?: number
  readonly notice?: (text: string) => void
}

/** Products by content key. While open, its own temporary folder tells other processes what not to evict. */
export class ProductCache {
  readonly #folder: string
  readonly #bench: string
  readonly #maxBytes: number
  readonly #notice: (text: string) => void
  readonly #used = new Set<ContentKey>()
  #benches = 0
  #writtenBytes = 0
  #checkAtBytes = 0
  #upkeep: Promise<void> = Promise.resolve()
  #told = false
  #signs: NodeJS.Timeout | undefined

  private constructor(options: CacheOptions) {
    this.#folder = options.folder
    this.#bench = join(temporaryFolder(options.folder), ownedName())
    this.#maxBytes = options.maxBytes ?? DEFAULT_CACHE_BYTES
    this.#notice = options.notice ?? (() => {})
  }

  static async open(options: CacheOptions): Promise<ProductCache> {
    const cache = new ProductCache(options)
    try {
      await mkdir(cache.#bench, { recursive: true })
      await removeLeftovers(options.folder)
    } catch (error) {
      throw explainWriteError(error, options.folder)
    }
    cache.#signs = setInterval(() => cache.#showLife(), SIGN_OF_LIFE_MS).unref()
    return cache
  }

  /** A product made earlier, by anyone; one that is not whole is removed. */
  async find(key: ContentKey): Promise<StoredProduct | null> {
    this.#used.add(key)
    const found = await readProduct(productFolder(this.#folder, key), key)
    if (typeof found === 'object') return found
    return found === 'damaged' ? this.#quarantine(key) : null
  }

  /** Makes a product in a temporary folder and gives it its place; `replace` puts it over one that is there. */
  async make(
    key: ContentKey,
    work: (folder: string) => Promise<unknown>,
    options: { readonly replace: boolean },
  ): Promise<StoredProduct> {
    this.#used.add(key)
    const folder = await this.makeFolder()
    try {
      const bytes = await sealProduct(folder, key, await work(folder))
      const product = await this.#settle(folder, key, options.replace)
      this.#grow(bytes)
      return product
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }

  /** An empty folder that lives until it is removed or the cache is closed. */
  async makeFolder(): Promise<string> {
    const folder = join(this.#bench, String(++this.#benches))
    await mkdir(folder, { recursive: true })
    return folder
  }

  async close(): Promise<void> {
    clearInterval(this.#signs)
    await this.#upkeep
    try {
      await rm(this.#bench, { recursive: true, force: true, maxRetries: 3 })
    } catch (error) {
      this.#notice(`${this.#bench} could not be removed (${describeError(error)}); a later run removes it`)
    }
  }

  /** For processes on other machines, which cannot see whether this one lives. */
  #showLife(): void {
    const now = new Date()
    utimes(this.#bench, now, now).catch((error: unknown) => this.#notice(describeError(error)))
  }

  async #settle(made: string, key: ContentKey, replace: boolean): Promise<StoredProduct> {
    const folder = productFolder(this.#folder, key)
    await mkdir(join(folder, '..'), { recursive: true })
    if (replace) await this.#discard(folder)
    for (let isMoved = false; !isMoved; ) {
      isMoved = await moveUnlessThere(made, folder)
      const product = await readProduct(folder, key)
      if (typeof product === 'object') return product
      if (!isMoved) await this.#quarantine(key)
    }
    throw new Error(
      `product ${key} vanished from ${this.#folder} as soon as it was made; is something else cleaning it?`,
    )
  }

  /** Takes a damaged product away; looks again once it is out of reach, as another process may have mended it. */
  async #quarantine(key: ContentKey): Promise<StoredProduct | null> {
    const folder = productFolder(this.#folder, key)
    const aside = await this.#moveAside(folder)
    if (aside === null) return null
    if (typeof (await readProduct(aside, key)) === 'object') await moveUnlessThere(aside, folder)
    await rm(aside, { recursive: true, force: true })
    const found = await readProduct(folder, key)
    return typeof found === 'object' ? found : null
  }

  /** Away from its place first: a folder that is being removed must not be found half-empty. */
  async #discard(folder: string): Promise<void> {
    const aside = await this.#moveAside(folder)
    if (aside !== null) await rm(aside, { recursive: true, force: true })
  }

  async #moveAside(folder: string): Promise<string | null> {
    const aside = join(this.#bench, `aside-${++this.#benches}`)
    try {
      await rename(folder, aside)
      return aside
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
      throw explainWriteError(error, folder)
    }
  }

  #grow(bytes: number): void {
    this.#writtenBytes += bytes
    if (this.#writtenBytes < this.#checkAtBytes) return
    this.#checkAtBytes = Infinity
    this.#upkeep = this.#upkeep.then(() => this.#evict())
  }

  async #evict(): Promise<void> {
    const before = this.#writtenBytes
    try {
      const left = await pruneCache({ folder: this.#folder, maxBytes: this.#maxBytes, keep: this.#used })
      const room = this.#maxBytes - left.bytes
      this.#checkAtBytes = before + Math.max(room, this.#maxBytes / 10)
      if (room < 0) this.#tell(`the cache ${this.#folder} is over its budget: what it holds is in use by running runs`)
    } catch (error) {
      this.#checkAtBytes = before + this.#maxBytes / 10
      this.#tell(`the cache ${this.#folder} could not be pruned: ${describeError(error)}`)
    }
  }

  #tell(text: string): void {
    if (!this.#told) this.#notice(text)
    this.#told = true
  }
}
