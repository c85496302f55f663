import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { explainWriteError } from '../../files/atomic.ts'
import type { ConvergenceTest, Manifest, Sidecar } from '../../files/convergence/contract.ts'
import { readManifest, writeManifest } from '../../files/convergence/manifest.ts'
import { readSidecar, writeSidecar } from '../../files/convergence/sidecar.ts'
import { shownPath } from '../../files/shown-path.ts'

export const DEFAULT_MANIFEST = 'convergence_harness_manifest.json'

/** Where checkpoints and recordings of one test lie. */
export class Storage {
  readonly folder: string
  readonly manifestPath: string
  readonly sidecarPath: string
  readonly #cwd: string
  #last: Promise<void> = Promise.resolve()

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

  /** The sidecar first: a manifest without it would be taken for complete. */
  async write(manifest: Manifest, sidecar: Sidecar | null): Promise<void> {
    if (sidecar) await writeSidecar(this.sidecarPath, sidecar)
    await writeManifest(this.manifestPath, manifest)
  }

  /** Changes one after the other, since several checkpoints may end at once. */
  change(how: (manifest: Manifest, sidecar: Sidecar | null) => readonly [Manifest, Sidecar | null]): Promise<void> {
    const mine = this.#last.then(async () => {
      const [manifest, sidecar] = how(await this.manifest(), await this.sidecar())
      await this.write(manifest, sidecar)
    })
    this.#last = mine.catch(() => {})
    return mine
  }
}
