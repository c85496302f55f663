import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { explainWriteError } from '../../../files/disk/atomic.ts'
import { shownPath } from '../../../files/disk/shown-path.ts'
import type { ConvergenceTest, LearntStart, Manifest, Sidecar } from '../config/contract.ts'
import { readManifest, writeManifest } from './manifest.ts'
import { readSidecar, writeSidecar } from './sidecar.ts'

export const DEFAULT_MANIFEST = 'convergence_harness_manifest.json'

/** Where checkpoints and recordings of one test lie. */
export class Storage {
  readonly folder: string
  readonly manifestPath: string
  readonly sidecarPath: string
  readonly #cwd: string
  #last: Promise<unknown> = Promise.resolve()
  /** Of this run; undefined: nothing was learnt in it. */
  #learnt: LearntStart | null | undefined

  /** `cwd`: what paths are shown relative to. */
  constructor(folder: string, test: Pick<ConvergenceTest, 'name'>, cwd: string, manifestName = DEFAULT_MANIFEST) {
    this.folder = folder
    this.#cwd = cwd
    this.manifestPath = join(folder, `${test.name}_${manifestName}`)
    this.sidecarPath = `${this.manifestPath.replace(/\.json$/i, '')}.assay.json`
  }

  /** Shared by all tests of a storage, as documented. */
  get checkpoints(): string {
    return join(this.folder, 'ckpts')
  }

  get shownManifest(): string {
    return this.shown(this.manifestPath)
  }

  /** For people: relative to the current folder where it lies inside. */
  shown(path: string): string {
    return shownPath(path, this.#cwd)
  }

  get exists(): boolean {
    return existsSync(this.manifestPath)
  }

  async create(): Promise<void> {
    await mkdir(this.checkpoints, { recursive: true }).catch((error: unknown) => {
      throw explainWriteError(error, this.shown(this.checkpoints))
    })
  }

  manifest(): Promise<Manifest> {
    return readManifest(this.manifestPath)
  }

  /** null for manifests that another tool gathered. */
  async sidecar(): Promise<Sidecar | null> {
    return existsSync(this.sidecarPath) ? readSidecar(this.sidecarPath) : null
  }

  /** Writes the sidecar first, because a manifest without it counts as complete. */
  async write(manifest: Manifest, sidecar: Sidecar | null): Promise<void> {
    if (sidecar) await writeSidecar(this.sidecarPath, sidecar)
    await writeManifest(this.manifestPath, manifest)
  }

  /** Changes one after the other, since several checkpoints may end at once. */
  change(how: (manifest: Manifest, sidecar: Sidecar | null) => readonly [Manifest, Sidecar | null]): Promise<void> {
    return this.#inTurn(async () => {
      const [manifest, sidecar] = how(await this.manifest(), await this.sidecar())
      await this.write(manifest, sidecar)
    })
  }

  /** What replays of this run or of one before showed. */
  async learntStart(): Promise<LearntStart | null> {
    return this.#learnt === undefined ? ((await this.sidecar())?.resumeAt ?? null) : this.#learnt
  }

  /** Remembered for this run even if it cannot be saved. False if there is no sidecar. */
  learnStart(resumeAt: LearntStart | null): Promise<boolean> {
    this.#learnt = resumeAt
    return this.#inTurn(async () => {
      const sidecar = await this.sidecar()
      if (sidecar) await writeSidecar(this.sidecarPath, { ...sidecar, resumeAt })
      return sidecar !== null
    })
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(work)
    this.#last = mine.catch(() => {})
    return mine
  }
}
