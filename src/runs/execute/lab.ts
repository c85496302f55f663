import { rm } from 'node:fs/promises'
import { remember } from '../../domain/remember.ts'
import type { Artifact, StepRecord } from '../../domain/result.ts'
import type { ProductCache } from '../cache/cache.ts'
import type { RunSpace } from '../cache/run-space.ts'
import type { StoredProduct } from '../cache/stored-product.ts'
import type { ContentKey, Lab, Opening, Product, RunFolder, StepSpec } from '../contract.ts'
import { keepArtifact, keepFiles } from '../record/artifacts.ts'
import { blaming } from './blame.ts'
import type { CaseClock } from './case-clock.ts'

interface RunLabOptions {
  readonly cache: ProductCache
  readonly space: RunSpace
  readonly runFolder: string
  /** Ignores what lay in the cache before the run; each key is still made once only. */
  readonly recompute: boolean
  /** Every product of every step stays with the run. */
  readonly keepsAll?: boolean
}

type Make = (folder: string) => Promise<unknown>

interface MadeProduct {
  readonly stored: StoredProduct
  readonly cached: boolean
}

/** The first asker gave up before the product was there; the next one has to make it. */
class Abandoned extends Error {}

/** What the cases of one run share. */
export class RunLab {
  readonly cache: ProductCache
  readonly space: RunSpace
  readonly runFolder: string
  readonly keepsAll: boolean
  readonly #recompute: boolean
  readonly #kept = new Map<string, Promise<readonly Artifact[]>>()
  readonly #products = new Map<ContentKey, Promise<MadeProduct>>()

  constructor(options: RunLabOptions) {
    this.cache = options.cache
    this.space = options.space
    this.runFolder = options.runFolder
    this.keepsAll = options.keepsAll ?? false
    this.#recompute = options.recompute
  }

  /** Copies the files of a product into the run; a product that many cases share is copied once. */
  keepProduct({ title }: StepSpec, folder: string): Promise<readonly Artifact[]> {
    return remember(this.#kept, folder, () => keepFiles(this.runFolder, title, folder))
  }

  /** Gives the product of a key; `cached` unless this very call made it. */
  async product(spec: StepSpec, key: ContentKey, make: Make, clock: CaseClock): Promise<MadeProduct> {
    for (;;) {
      clock.signal.throwIfAborted()
      const earlier = this.#products.get(key)
      if (!earlier) return this.#begin(key, () => blaming(spec, () => this.#findOrMake(spec, key, make)), clock.signal)
      try {
        const { stored } = await clock.pausedWhile(unlessAborted(earlier, clock.signal))
        return { stored, cached: true }
      } catch (error) {
        if (!(error instanceof Abandoned)) throw error
      }
    }
  }

  #begin(key: ContentKey, work: () => Promise<MadeProduct>, signal: AbortSignal): Promise<MadeProduct> {
    const product = unlessAborted(work(), signal).catch((error: unknown) => {
      if (!signal.aborted) throw error
      this.#products.delete(key)
      throw new Abandoned('given up', { cause: error })
    })
    this.#products.set(key, product)
    return product.catch((error: unknown) => {
      throw error instanceof Abandoned ? error.cause : error
    })
  }

  async #findOrMake({ from }: StepSpec, key: ContentKey, make: Make): Promise<MadeProduct> {
    const found = this.#recompute ? null : await this.cache.find(key)
    if (found) return { stored: found, cached: true }
    return { stored: await this.cache.make(key, make, { replace: this.#recompute, from }), cached: false }
  }
}

/** Nobody reads faster. */
const PROGRESS_MS = 250

export interface StepWatcher {
  onStep(spec: StepSpec): void
  onProgress(text: string): void
}

/** The lab as one case sees it; remembers what the case did there. */
export class CaseLab implements Lab {
  readonly signal: AbortSignal
  readonly #kept: Artifact[] = []
  readonly #products: Artifact[] = []
  readonly #done: StepRecord[] = []
  readonly #underway = new Map<StepSpec, number>()
  readonly #run: RunLab
  readonly #clock: CaseClock
  readonly #watcher: StepWatcher
  readonly #folders: string[] = []
  #lastStep: StepSpec | null = null
  #nextProgressMs = 0

  constructor(run: RunLab, clock: CaseClock, watcher: StepWatcher) {
    this.#run = run
    this.#clock = clock
    this.#watcher = watcher
    this.signal = clock.signal
  }

  /** What was kept under a name of its own is not listed again under that of its step. */
  get artifacts(): readonly Artifact[] {
    const others = new Map(this.#products.map((artifact) => [artifact.sha256, artifact]))
    for (const { sha256 } of this.#kept) others.delete(sha256)
    return [...this.#kept, ...others.values()]
  }

  get keepsAll(): boolean {
    return this.#run.keepsAll
  }

  /** The step that is under way, or else began last: where an error outside of all steps most likely belongs. */
  get lastStep(): StepSpec | null {
    return [...this.#underway.keys()].at(-1) ?? this.#lastStep
  }

  /** All steps so far; one that is under way counts with the time it took until now. */
  get steps(): readonly StepRecord[] {
    const underway = [...this.#underway].map(([spec, startedMs]) => recordOf(spec, false, startedMs))
    return [...this.#done, ...underway]
  }

  async step<T>(
    spec: StepSpec,
    make: (folder: string) => Promise<T>,
    openings?: (value: T) => readonly Opening[],
  ): Promise<Product<T>> {
    this.signal.throwIfAborted()
    const step = { ...spec }
    const startedMs = performance.now()
    this.#underway.set(step, startedMs)
    this.#lastStep = step
    this.#watcher.onStep(step)
    let cached = false
    let begun: readonly Opening[] = []
    try {
      const product = await this.#product(step, make)
      const value = product.stored.value as T
      cached = product.cached
      if (openings && !cached) begun = openings(value)
      if (this.keepsAll && spec.files !== false)
        this.#products.push(...(await this.#run.keepProduct(step, product.stored.folder)))
      return { value, folder: product.stored.folder, cached }
    } finally {
      this.#underway.delete(step)
      for (const each of begun)
        this.#done.push({ ...recordOf({ ...step, ...each, key: null }, false, 0), durationMs: each.durationMs })
      this.#done.push(
        recordOf(
          step,
          cached,
          begun.reduce((sum, { durationMs }) => sum + durationMs, startedMs),
        ),
      )
    }
  }

  makeFolder(bytes: number, mostBytes: number): Promise<RunFolder> {
    return this.#run.space.makeFolder(bytes, mostBytes)
  }

  progress(text: string): void {
    const nowMs = performance.now()
    if (nowMs < this.#nextProgressMs) return
    this.#nextProgressMs = nowMs + PROGRESS_MS
    this.#watcher.onProgress(text)
  }

  async keep(name: string, path: string): Promise<void> {
    const stage = this.lastStep?.stage ?? 'compare'
    const artifact = await blaming({ title: `keep ${name}`, stage, key: null }, () =>
      keepArtifact(this.#run.runFolder, name, path),
    )
    const isKept = this.#kept.some((kept) => kept.name === name && kept.sha256 === artifact.sha256)
    if (!isKept) this.#kept.push(artifact)
  }

  /** Removes the products that only this case could use. */
  async close(): Promise<void> {
    this.#clock.stop()
    for (const folder of this.#folders) await rm(folder, { recursive: true, force: true })
  }

  async #product(spec: StepSpec, make: Make): Promise<MadeProduct> {
    if (spec.key !== null) return this.#run.product(spec, spec.key, make, this.#clock)
    return unlessAborted(
      blaming(spec, () => this.#makeOwn(spec, make)),
      this.signal,
    )
  }

  async #makeOwn({ files }: StepSpec, make: Make): Promise<MadeProduct> {
    if (files === false) return { stored: { value: await make(''), folder: '' }, cached: false }
    const folder = await this.#run.cache.makeFolder()
    this.#folders.push(folder)
    return { stored: { value: await make(folder), folder }, cached: false }
  }
}

function recordOf(spec: StepSpec, cached: boolean, startedMs: number): StepRecord {
  const { title, stage, side, key } = spec
  const durationMs = performance.now() - startedMs
  return { title, stage, ...(side && { side }), key, cached, durationMs }
}

/** Stops waiting when the signal is aborted; what was awaited goes on without us and its end is of no interest. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop = () => {}
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason)
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
  })
  try {
    return await Promise.race([work, aborted])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
