import { once } from 'node:events'
import { encodeHead, type Frame, FrameReader } from '../protocol/frame.ts'
import { type BlobModel, type HostMessage, type HostRequest, PROTOCOL } from '../protocol/messages.ts'
import * as read from '../protocol/read-fields.ts'
import { BoardError } from './board-command.ts'
import type { BoardFolder, Upload } from './board-folder.ts'
import type { HostLink } from './host-link.ts'
import type { Runner } from './runner.ts'

type Request<Method extends HostRequest['method']> = Extract<HostRequest, { readonly method: Method }>

/** What the bridge adds to what the runner says of itself. */
export interface BridgeFacts {
  readonly detail: Readonly<Record<string, string>>
  /** Content that was deployed and the board that runs it: part of what decides the bits. */
  readonly identity: string
}

/** Carries requests to the board and answers back; models are kept on the board by content, and the runner gets paths. */
export class Relay {
  readonly #host: HostLink
  readonly #runner: Runner
  readonly #folder: BoardFolder
  readonly #facts: BridgeFacts
  #upload: { readonly id: number; readonly to: Upload } | null = null
  #helloId: unknown = null
  #onIntroduced = () => {}
  /** The runner has answered. */
  readonly introduced = new Promise<void>((resolve) => {
    this.#onIntroduced = resolve
  })
  #opening: { readonly id: number; readonly model: number } | null = null
  /** Session → number of its model on the board. */
  readonly #models = new Map<number, number>()

  constructor(host: HostLink, runner: Runner, folder: BoardFolder, facts: BridgeFacts) {
    this.#host = host
    this.#runner = runner
    this.#folder = folder
    this.#facts = facts
  }

  /** Until the host needs no more. */
  async fromHost(input: AsyncIterable<Uint8Array>): Promise<void> {
    const reader = new FrameReader()
    for await (const piece of input) for (const frame of reader.push(piece)) await this.#onHost(frame)
  }

  /** Until the runner says no more. */
  async fromRunner(): Promise<void> {
    const reader = new FrameReader()
    for await (const piece of this.#runner.output()) {
      for (const { header, payload } of reader.push(piece)) await this.#host.send(this.#translate(header), payload)
    }
    const unfinished = reader.unfinished()
    if (unfinished) process.stderr.write(`the runner stopped ${unfinished}\n`)
  }

  async #onHost({ header, payload }: Frame): Promise<void> {
    const message = header as HostMessage
    try {
      if (message.method === 'bytes' && this.#upload?.id === message.params.request) {
        await this.#continueUpload(message.params.last, payload)
      } else if (message.method === 'blob.has') {
        await this.#host.answer(message.id, { has: await this.#folder.has(message.params.digest) })
      } else if (message.method === 'blob.put') {
        this.#upload = { id: message.id, to: this.#folder.upload(message.params.digest, message.params.byteLength) }
      } else await this.#pass(message, payload)
    } catch (error) {
      if (!(error instanceof BoardError)) throw error
      this.#upload = null
      await this.#host.refuse('id' in message ? message.id : message.params.request, error.message)
    }
  }

  async #continueUpload(isLast: boolean, payload: Uint8Array): Promise<void> {
    const { id, to } = this.#upload!
    await to.write(payload)
    if (!isLast) return
    await to.finish()
    this.#upload = null
    await this.#host.answer(id, {})
  }

  async #pass(message: HostMessage, payload: Uint8Array): Promise<void> {
    if (message.method === 'hello') this.#helloId = message.id
    if (message.method === 'close') this.#abandon(message.params.session)
    await this.#toRunner(message.method === 'open' ? await this.#placed(message) : message, payload)
  }

  #abandon(session: number): void {
    const model = this.#models.get(session)
    if (model !== undefined) this.#folder.abandon(model)
    this.#models.delete(session)
  }

  async #placed(request: Request<'open'>): Promise<unknown> {
    const { model } = request.params
    if (!('blob' in model)) throw new BoardError('models go to a board by their content')
    const { name, files } = filesOf(model)
    const { number, folder } = await this.#folder.place(files)
    this.#opening = { id: request.id, model: number }
    return { ...request, params: { ...request.params, model: { format: model.format, path: `${folder}/${name}` } } }
  }

  async #toRunner(message: unknown, payload: Uint8Array): Promise<void> {
    const { input } = this.#runner
    if (!input.writable) return
    input.write(encodeHead(message, payload.length))
    if (!input.write(payload)) await Promise.race([once(input, 'drain'), once(input, 'close')]).catch(() => {})
  }

  #translate(header: unknown): unknown {
    const message = read.object(header, 'message')
    if (message.id === undefined || message.id === null) return header
    if (message.id === this.#opening?.id) this.#onOpened(message)
    if (message.id !== this.#helloId || message.result === undefined) return header
    this.#helloId = null
    this.#onIntroduced()
    return { ...message, result: this.#introduced(read.object(message.result, 'hello result')) }
  }

  #onOpened({ result }: read.Fields): void {
    const { model } = this.#opening!
    this.#opening = null
    const session = (result as { session?: unknown } | undefined)?.session
    if (typeof session === 'number') this.#models.set(session, model)
    else this.#folder.abandon(model)
  }

  /** The runner sees files of its own board and none of ours. */
  #introduced(hello: read.Fields): unknown {
    if (hello.available === false || !Array.isArray(hello.protocols) || !hello.protocols.includes(PROTOCOL))
      return hello
    const { forms: _forms, ...capabilities } = read.object(hello.capabilities ?? {}, 'hello capabilities')
    const fingerprint = hello.fingerprint == null ? null : JSON.stringify([hello.fingerprint, this.#facts.identity])
    return {
      ...hello,
      capabilities: { ...capabilities, blobs: true, files: false },
      detail: { ...(hello.detail as object | undefined), ...this.#facts.detail },
      fingerprint,
    }
  }
}

/** External data keeps its place beside the model; the model's own name must not be one of them. */
function filesOf({ blob, external }: BlobModel) {
  for (const { location } of external) refuseOutside(location)
  const taken = new Set(external.map(({ location }) => location))
  let name = 'model.onnx'
  while (taken.has(name)) name = `_${name}`
  const files = [{ digest: blob, path: name }, ...external.map((file) => ({ digest: file.blob, path: file.location }))]
  return { name, files }
}

function refuseOutside(location: string): void {
  const isInside = !location.startsWith('/') && !location.split('/').includes('..') && location !== ''
  if (!isInside || /[\u0000-\u001f\u007f]/.test(location)) {
    throw new BoardError(`external data at ${JSON.stringify(location.slice(0, 200))} does not lie beside its model`)
  }
}
