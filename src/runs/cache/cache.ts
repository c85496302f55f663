import { mkdir, rename, rm, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { explainWriteError } from '../../files/disk/atomic.ts'
import { ownedName } from '../../files/disk/process-identity.ts'
import { ulid } from '../../files/disk/ulid.ts'
import type { ContentKey, KeyParts } from '../contract.ts'
import { isMissing } from '../disk-errors.ts'
import { describeError } from '../execute/blame.ts'
import { findProductFolder, productsOn, pruneCache, removeLeftovers, temporaryFolder } from './cache-upkeep.ts'
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
    for (const folder of await productsOn(findProductFolder(this.#folder, key))) {
      const found = await readProduct(folder, key)
      if (typeof found === 'object') return found
      if (found === 'damaged') await this.#discard(folder)
    }
    return null
  }

  /** Makes a product in a temporary folder and gives it its place; `replace` prefers it to one that is there. */
  async make(
    key: ContentKey,
    work: (folder: string) => Promise<unknown>,
    options: { readonly replace: boolean; readonly from?: KeyParts | undefined },
  ): Promise<StoredProduct> {
    this.#used.add(key)
    const folder = await this.makeFolder()
    try {
      const { bytes, value } = await sealProduct(folder, key, await work(folder), options.from)
      const winner = options.replace ? null : await this.find(key)
      if (winner) return winner
      this.#grow(bytes)
      return { value, folder: await this.#publish(folder, key) }
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

  /** Under a name of its own, so that nobody's product is ever moved or overwritten while it is read. */
  async #publish(made: string, key: ContentKey): Promise<string> {
    const shelf = findProductFolder(this.#folder, key)
    const folder = join(shelf, ulid())
    await this.#moveOnto(made, shelf, folder)
    return folder
  }

  /** An empty shelf may be removed at any moment. */
  async #moveOnto(made: string, shelf: string, folder: string): Promise<void> {
    const ATTEMPTS = 10
    for (let attempt = 1; ; attempt++) {
      await mkdir(shelf, { recursive: true })
      try {
        return await rename(made, folder)
      } catch (error) {
        if (!isMissing(error) || attempt === ATTEMPTS) throw error
      }
    }
  }

  /** Away from its place first: a folder that is being removed must not be found half-empty. */
  async #discard(folder: string): Promise<void> {
    const aside = join(this.#bench, `aside-${++this.#benches}`)
    try {
      await rename(folder, aside)
      await rm(aside, { recursive: true, force: true })
    } catch (error) {
      if (!isMissing(error)) throw explainWriteError(error, folder)
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
