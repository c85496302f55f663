import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { getRequestListener } from '@hono/node-server'
import type { LoopbackApp } from './app.ts'
import { findRefusal, type GuardRules, type HttpRefusal } from './guard.ts'

const LOOPBACK = '127.0.0.1'

export interface LoopbackOptions {
  readonly app: LoopbackApp
  readonly rules: GuardRules
  /** Every answer has them, those to requests that are refused too. */
  readonly headers: Readonly<Record<string, string>>
  /** 0: one that is free. */
  readonly port: number
  /** What a request to become a WebSocket is given to, unguarded. */
  readonly onUpgrade?: UpgradeListener
}

export type UpgradeListener = (request: IncomingMessage, socket: Duplex, head: Buffer) => void

export interface LoopbackServer {
  /** `http://127.0.0.1:<port>` */
  readonly origin: string
  /** Ends connections that are open, too. */
  close(): Promise<void>
}

/** Serves this machine alone, and there only its user and whom the rules let in. */
export async function openLoopback(options: LoopbackOptions): Promise<LoopbackServer> {
  const { app, rules, headers, port, onUpgrade } = options
  const answer = getRequestListener(app.fetch, { overrideGlobalObjects: false })
  const server = createServer((request, response) => {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
    const refusal = findRefusal(request, rules)
    if (refusal) refuse(response, refusal)
    else void answer(request, response)
  })
  if (onUpgrade) server.on('upgrade', onUpgrade)
  const connections = collectConnections(server)
  await listen(server, port)
  const origin = `http://${LOOPBACK}:${(server.address() as AddressInfo).port}`
  return { origin, close: () => close(server, connections) }
}

function refuse(response: ServerResponse, { status, text, headers }: HttpRefusal): void {
  const body = Buffer.from(`${text}\n`)
  const type = { 'Content-Type': 'text/plain; charset=utf-8', 'Content-Length': body.byteLength }
  response.writeHead(status, { ...type, ...headers }).end(body)
}

/** The server itself forgets those that became WebSockets. */
function collectConnections(server: Server): ReadonlySet<Socket> {
  const connections = new Set<Socket>()
  server.on('connection', (socket) => {
    connections.add(socket)
    socket.once('close', () => connections.delete(socket))
  })
  return connections
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, LOOPBACK, resolve)
  })
}

function close(server: Server, connections: ReadonlySet<Socket>): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    for (const connection of connections) connection.destroy()
  })
}
