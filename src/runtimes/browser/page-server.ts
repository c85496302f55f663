import { timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { strangerAt } from '../loopback/peer.ts'
import { type Assets, respond, serveAsset } from './assets.ts'

const LOOPBACK = '127.0.0.1'
const LOOPBACK_NAMES = new Set([LOOPBACK, 'localhost', '[::1]'])
const MAX_MESSAGE_BYTES = 16 * 2 ** 20

export interface PageServer {
  /** What to open in the browser; the token behind the # is never sent to any server by itself. */
  readonly address: string
  /** The first page that connects with the token; there is only one. */
  readonly page: Promise<WebSocket>
  close(): void
}

export interface PageServerOptions {
  readonly assets: Assets
  readonly token: string
  /** 0: one that is free. */
  readonly port: number
}

/** Serves Assay's page on the loopback interface and waits for it to connect back. */
export async function startPageServer({ assets, token, port }: PageServerOptions): Promise<PageServer> {
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: MAX_MESSAGE_BYTES })
  const server = createServer((request, response) => {
    const stranger = strangerAt(request.socket)
    if (stranger) respond(response, 403, 'text/plain', `${stranger}\n`)
    else if (!isForUs(request)) respond(response, 421, 'text/plain', 'not for this server\n')
    else if (request.method !== 'GET') respond(response, 405, 'text/plain', 'only GET\n')
    else void serveAsset(partsOf(request).path, assets, response)
  })
  const page = new Promise<WebSocket>((resolve) => {
    let isTaken = false
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      // A client that left before the answer needs none.
      socket.on('error', () => {})
      const refusal = refusalOf(request, token, isTaken)
      if (refusal) return void socket.end(`HTTP/1.1 ${refusal}\r\nConnection: close\r\n\r\n`)
      isTaken = true
      sockets.handleUpgrade(request, socket, head, resolve)
    })
  })
  await listen(server, port)
  const address = `http://${LOOPBACK}:${(server.address() as AddressInfo).port}/#${token}`
  return { address, page, close: () => server.close() }
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, LOOPBACK, resolve)
  })
}

function partsOf({ url = '/' }: IncomingMessage): { path: string; query: URLSearchParams } {
  const [path = '/', query] = url.split('?', 2)
  return { path, query: new URLSearchParams(query) }
}

/** A name that somebody else pointed at the loopback address is refused; any port is ours, as it may be forwarded. */
function isForUs({ headers, url = '/' }: IncomingMessage): boolean {
  return url.startsWith('/') && LOOPBACK_NAMES.has((headers.host ?? '').replace(/:\d{1,5}$/, ''))
}

function refusalOf(request: IncomingMessage, token: string, isTaken: boolean): string | null {
  const { host, origin } = request.headers
  if (strangerAt(request.socket) || !isForUs(request) || origin !== `http://${host}`) return '403 Forbidden'
  const given = partsOf(request).query.get('token') ?? ''
  if (!isSame(given, token)) return '401 Unauthorized'
  return isTaken ? '409 Conflict' : null
}

function isSame(given: string, token: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(token)]
  return a.length === b.length && timingSafeEqual(a, b)
}
