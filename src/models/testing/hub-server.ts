import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface ServedModel {
  readonly commit: string
  readonly files: Readonly<Record<string, Uint8Array | string>>
  /** Files that lie on another host, by content, as large ones do. */
  readonly large?: readonly string[]
  readonly branches?: readonly string[]
  readonly access?: 'open' | 'gated' | 'private'
}

/** How a test wants the server to misbehave. */
export interface Mischief {
  /** Breaks the connection after so many bytes of a file, so many times, when they have arrived. */
  breakAfter?: { bytes: number; times: number; hasArrived(size: number): boolean }
  /** Answers so many requests with this status first. */
  refuse?: { status: number; times: number }
  /** Says nothing at all, so many times. */
  silence?: { times: number; begins(): void }
  ignoresRanges?: boolean
  /** Gives other bytes than it promises. */
  corrupts?: boolean
  hidesFacts?: boolean
  /** Sends bytes without end. */
  endless?: boolean
  renames?: Readonly<Record<string, string>>
  /** Sends spaces without end as the list of files. */
  endlessList?: boolean
  /** Begins the list of files and says no more. */
  unfinishedList?: boolean
}

interface Seen {
  readonly host: 'hub' | 'store'
  readonly url: string
  readonly authorization: string | null
  readonly range: string | null
}

export const HUB_TOKEN = 'hf_secret'

/** A hub and the store of its large files, on two free ports of this machine. */
export class HubServer {
  readonly models = new Map<string, ServedModel>()
  readonly seen: Seen[] = []
  mischief: Mischief = {}
  readonly #hub: Server
  readonly #store: Server

  private constructor() {
    this.#hub = createServer((request, response) => this.#serve('hub', request, response))
    this.#store = createServer((request, response) => this.#serve('store', request, response))
  }

  static async start(): Promise<HubServer> {
    const server = new HubServer()
    for (const each of [server.#hub, server.#store])
      await new Promise<void>((done) => each.listen(0, '127.0.0.1', done))
    return server
  }

  get endpoint(): string {
    return addressOf(this.#hub)
  }

  async close(): Promise<void> {
    for (const each of [this.#hub, this.#store]) {
      each.closeAllConnections()
      await new Promise((done) => each.close(done))
    }
  }

  #serve(host: 'hub' | 'store', request: IncomingMessage, response: ServerResponse): unknown {
    const { url = '', headers } = request
    const authorization = headers.authorization ?? null
    this.seen.push({ host, url, authorization, range: headers.range ?? null })
    const { silence, refuse } = this.mischief
    if (silence && silence.times-- > 0) return silence.begins()
    if (refuse && refuse.times-- > 0) return end(response, refuse.status)
    const path = decodeURIComponent(new URL(url, 'http://x').pathname)
    if (host === 'store') return this.#send(request, response, this.#stored(path.slice(1)))
    const api = /^\/api\/models\/(.+)\/revision\/(.+)$/.exec(path)
    const file = /^\/(.+)\/resolve\/([^/]+)\/(.+)$/.exec(path)
    const model = this.models.get(api?.[1] ?? file?.[1] ?? '')
    if (!model) return end(response, 401, { 'x-error-code': 'RepoNotFound' })
    if (model.access === 'private' && authorization === null) return end(response, 401)
    if (api) return this.#list(response, model, api[2]!)
    if (model.access === 'gated' && authorization === null) return end(response, 401, { 'x-error-code': 'GatedRepo' })
    return this.#sendFile(request, response, model, file![3]!)
  }

  #list(response: ServerResponse, model: ServedModel, revision: string): unknown {
    const known = [model.commit, 'main', ...(model.branches ?? [])]
    if (!known.includes(revision)) return end(response, 404, { 'x-error-code': 'RevisionNotFound' })
    const siblings = Object.entries(model.files).map(([name, content]) => this.#facts(model, name, content))
    response.setHeader('content-type', 'application/json')
    const { endlessList, unfinishedList } = this.mischief
    if (endlessList) return floodWithSpaces(response)
    if (unfinishedList) return response.write('{')
    return response.end(JSON.stringify({ id: 'x', sha: model.commit, siblings }))
  }

  #facts(model: ServedModel, name: string, content: Uint8Array | string): object {
    const rfilename = this.mischief.renames?.[name] ?? name
    if (this.mischief.hidesFacts) return { rfilename }
    const size = Buffer.byteLength(content)
    const lfs = model.large?.includes(name) ? { lfs: { sha256: sha256(content), size, pointerSize: 134 } } : {}
    return { rfilename, size, blobId: gitId(content), ...lfs }
  }

  #sendFile(request: IncomingMessage, response: ServerResponse, model: ServedModel, name: string): unknown {
    const content = model.files[name]
    if (content === undefined) return end(response, 404, { 'x-error-code': 'EntryNotFound' })
    response.setHeader('x-repo-commit', model.commit)
    if (!model.large?.includes(name)) {
      response.setHeader('etag', `"${gitId(content)}"`)
      return this.#send(request, response, content)
    }
    response.setHeader('x-linked-etag', `"${sha256(content)}"`)
    response.setHeader('x-linked-size', String(Buffer.byteLength(content)))
    return end(response, 302, { location: `${addressOf(this.#store)}/${sha256(content)}?signature=1` })
  }

  #stored(digest: string): Uint8Array | string | undefined {
    const all = [...this.models.values()].flatMap(({ files }) => Object.values(files))
    return all.find((content) => sha256(content) === digest)
  }

  #send(request: IncomingMessage, response: ServerResponse, content: Uint8Array | string | undefined): unknown {
    if (content === undefined) return end(response, 404)
    const whole = Buffer.from(content)
    const start = this.mischief.ignoresRanges ? 0 : Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0)
    if (start >= whole.length && start > 0) return end(response, 416)
    if (start > 0) response.setHeader('content-range', `bytes ${start}-${whole.length - 1}/${whole.length}`)
    response.statusCode = start > 0 ? 206 : 200
    const part = whole.subarray(start)
    if (this.mischief.endless) return flood(response)
    if (this.mischief.corrupts) part[0] = part[0]! ^ 1
    response.setHeader('content-length', part.length)
    const { breakAfter } = this.mischief
    if (!breakAfter || breakAfter.bytes >= part.length || breakAfter.times-- <= 0) return response.end(part)
    const size = start + breakAfter.bytes
    response.write(part.subarray(0, breakAfter.bytes))
    return destroyOnce(response, () => breakAfter.hasArrived(size))
  }
}

function end(response: ServerResponse, status: number, headers: Record<string, string> = {}): ServerResponse {
  return response.writeHead(status, headers).end()
}

function destroyOnce(response: ServerResponse, holds: () => boolean): void {
  const timer = setInterval(() => holds() && response.destroy(), 5)
  response.on('close', () => clearInterval(timer))
}

function flood(response: ServerResponse): void {
  const timer = setInterval(() => response.write(Buffer.alloc(10_000)), 5)
  response.on('close', () => clearInterval(timer))
}

/** As fast as it is read. */
function floodWithSpaces(response: ServerResponse): void {
  const spaces = Buffer.alloc(2 ** 20, ' ')
  const send = () => {
    while (!response.destroyed && response.write(spaces));
  }
  response.on('drain', send)
  send()
}

function addressOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

export function sha256(content: Uint8Array | string): string {
  return createHash('sha256').update(content).digest('hex')
}

export function gitId(content: Uint8Array | string): string {
  return createHash('sha1')
    .update(`blob ${Buffer.byteLength(content)}\0`)
    .update(content)
    .digest('hex')
}
