import { join } from 'node:path'
import { downloadBlob } from './download.ts'
import type { HubClient, HubFile, HubModel } from './hub-client.ts'
import { placeBlob } from './snapshot.ts'

export interface DownloadProgress {
  /** The file that is being downloaded. */
  readonly file: string
  readonly doneBytes: number
  /** The total of all files known to be needed so far; null: unknown. */
  readonly totalBytes: number | null
}

interface FetchRequest {
  readonly client: HubClient
  readonly id: string
  readonly model: HubModel
  /** Folder of the model in the cache. */
  readonly repository: string
  readonly onProgress?: ((progress: DownloadProgress) => void) | undefined
}

/** Brings files of one commit into the cache, each once. */
export class ModelFetcher {
  readonly #request: FetchRequest
  readonly #files: ReadonlyMap<string, HubFile>
  readonly #doneBytes = new Map<string, number>()
  readonly #placed = new Set<string>()

  constructor(request: FetchRequest) {
    this.#request = request
    this.#files = new Map(request.model.files.map((file) => [file.name, file]))
  }

  /** Counts files into the total before they are asked for. */
  expect(names: readonly string[]): void {
    for (const name of names) this.#doneBytes.set(name, this.#doneBytes.get(name) ?? 0)
  }

  /** Gives the path of a file in the snapshot. */
  async fetch(name: string): Promise<string> {
    const { repository, model } = this.#request
    if (!this.#placed.has(name)) await this.#place(this.#files.get(name)!)
    this.#placed.add(name)
    return join(repository, 'snapshots', model.commit, name)
  }

  async #place(file: HubFile): Promise<void> {
    const { client, id, model, repository } = this.#request
    this.expect([file.name])
    const onBytes = (doneBytes: number) => this.#tell(file.name, doneBytes)
    const blob = await downloadBlob({ client, id, commit: model.commit, file, repository, onBytes })
    await placeBlob(repository, model.commit, file.name, blob)
    if (file.byteLength !== null) this.#tell(file.name, file.byteLength)
  }

  #tell(file: string, doneBytes: number): void {
    this.#doneBytes.set(file, doneBytes)
    const sizes = [...this.#doneBytes.keys()].map((name) => this.#files.get(name)?.byteLength ?? null)
    const totalBytes = sizes.reduce((sum, size) => (sum === null || size === null ? null : sum + size), 0)
    const done = [...this.#doneBytes.values()].reduce((sum, bytes) => sum + bytes, 0)
    this.#request.onProgress?.({ file, doneBytes: done, totalBytes })
  }
}
