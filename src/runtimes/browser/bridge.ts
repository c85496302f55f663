import { Socket } from 'node:net'
import { pipeline } from 'node:stream/promises'
import { createWebSocketStream, type WebSocket } from 'ws'
import { encodeHead } from '../protocol/frame.ts'
import { CANNOT_GO_ON } from './settings.ts'

const BUFFERED_BYTES = 4 * 2 ** 20

/** How the connection ended: the host is done, or the page is gone, possibly with a reason. */
export type Ending = { readonly by: 'host' } | { readonly by: 'page'; readonly reason: string | null }

/** Standard input and file descriptor 3, where a worker of ours talks with the host. */
export class HostPipes {
  // The end of the host is noticed elsewhere.
  readonly #output = new Socket({ fd: 3, readable: false, writable: true }).on('error', () => {})

  /** Carries bytes both ways until one side ends. */
  async join(page: WebSocket): Promise<Ending> {
    const closed = new Promise<string | null>((resolve) => {
      page.once('close', (code, reason) => resolve(code === CANNOT_GO_ON ? String(reason) : null))
    })
    const stream = createWebSocketStream(page, { highWaterMark: BUFFERED_BYTES })
    const toPage = pipeline(process.stdin, stream)
    const toHost = pipeline(stream, this.#output, { end: false })
    await Promise.allSettled([toHost])
    // Notices a page that goes away while the host has nothing to send.
    stream.destroy()
    await Promise.allSettled([toPage])
    return process.stdin.readableEnded ? { by: 'host' } : { by: 'page', reason: await closed }
  }

  /** Tells the host why this worker ends. */
  async sayLastWords(reason: string): Promise<void> {
    const message = { jsonrpc: '2.0', method: 'end', params: { reason } }
    await new Promise<void>((resolve) => this.#output.write(encodeHead(message, 0), () => resolve()))
  }
}
