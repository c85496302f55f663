import type { ModelRef, ShippedModel } from '../contract.ts'
import { ProtocolError } from '../protocol/frame.ts'
import type { HostRequest, WireModel } from '../protocol/messages.ts'
import type { Channel } from './channel.ts'
import { receiveBytes } from './receive.ts'

type Request<Method extends HostRequest['method']> = Extract<HostRequest, { readonly method: Method }>

/** Where a worker gets the models from that it is told to open. */
export interface ModelSource<Model> {
  fetch(channel: Channel, request: Request<'open' | 'form'>): Promise<Model>
  has(digest: string): boolean
  put(channel: Channel, request: Request<'blob.put'>): Promise<void>
  /** The model was opened, so what was kept for it may go. */
  tidy(): void
}

/** The host's own files. */
export const LOCAL_MODELS: ModelSource<ModelRef> = {
  async fetch(channel, { id, params: { model } }) {
    if ('path' in model) return model
    if ('blob' in model) throw new ProtocolError('this worker reads models from files and keeps no blobs')
    return { format: model.format, folder: model.folder, bytes: await receiveBytes(channel, id, model.byteLength) }
  },
  has: () => false,
  async put() {
    throw new ProtocolError('this worker reads models from files and keeps no blobs')
  },
  tidy() {},
}

/** Models that were sent, by content; up to `keptBytes` stay for the next time. */
export class BlobModels implements ModelSource<ShippedModel> {
  readonly #keptBytes: number
  readonly #blobs = new Map<string, Uint8Array>()

  constructor(keptBytes: number) {
    this.#keptBytes = keptBytes
  }

  async fetch(_channel: Channel, { params: { model } }: Request<'open' | 'form'>): Promise<ShippedModel> {
    const { format, blob, external } = blobModel(model)
    const files = external.map((file) => [file.location, this.#take(file.blob)] as const)
    return { format, bytes: this.#take(blob), external: new Map(files) }
  }

  has(digest: string): boolean {
    return this.#blobs.has(digest)
  }

  async put(channel: Channel, { id, params }: Request<'blob.put'>): Promise<void> {
    this.#blobs.set(params.digest, await receiveBytes(channel, id, params.byteLength))
  }

  /** Forgets what was not used for longest. */
  tidy(): void {
    let total = 0
    for (const bytes of this.#blobs.values()) total += bytes.length
    for (const [digest, bytes] of this.#blobs) {
      if (total <= this.#keptBytes) return
      this.#blobs.delete(digest)
      total -= bytes.length
    }
  }

  #take(digest: string): Uint8Array {
    const bytes = this.#blobs.get(digest)
    if (!bytes) throw new ProtocolError(`blob ${digest} was never put`)
    this.#blobs.delete(digest)
    this.#blobs.set(digest, bytes)
    return bytes
  }
}

function blobModel(model: WireModel) {
  if ('blob' in model) return model
  throw new ProtocolError('this worker sees no files; models come as blobs')
}
