import { type WebSocket, WebSocketServer } from 'ws'
import { type GuardRules, mayOpenSocket } from './guard.ts'
import { readTarget } from './request-target.ts'
import type { UpgradeListener } from './server.ts'

const MAX_MESSAGE_BYTES = 16 * 2 ** 20

/** Who gets the socket that a page of ours asks for, or why it gets none, as a status line says it. */
type Decision = ((socket: WebSocket) => void) | string

/** Answers requests to become a WebSocket. */
export function acceptSockets(rules: GuardRules, decide: (query: URLSearchParams) => Decision): UpgradeListener {
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: MAX_MESSAGE_BYTES })
  return (request, socket, head) => {
    // A client that left before the answer needs none.
    socket.on('error', () => {})
    const decision = mayOpenSocket(request, rules) ? decide(readTarget(request).query) : '403 Forbidden'
    if (typeof decision === 'string') socket.end(`HTTP/1.1 ${decision}\r\nConnection: close\r\n\r\n`)
    else sockets.handleUpgrade(request, socket, head, decision)
  }
}
