import { setTimeout as delay } from 'node:timers/promises'
import { endWithHost } from '../worker/end-with-host.ts'
import { readOrder } from '../worker/read-order.ts'
import { HostPipes } from './bridge.ts'
import { type PageServer, startPageServer } from './page-server.ts'
import type { PageOrder } from './work-order.ts'

/** Where to wait for a page that a person opens, and how long. */
export interface WaitOrder {
  readonly page: PageOrder
  readonly port: number
  readonly token: string
  readonly waitMs: number
}

async function main(order: WaitOrder): Promise<void> {
  const pipes = new HostPipes()
  endWithHost(() => process.exit(1))
  const reason = await serve(pipes, order)
  if (reason !== null) await pipes.sayLastWords(reason)
  process.exit(reason === null ? 0 : 1)
}

/** Why the page can no longer be used; null: the host is done. */
async function serve(pipes: HostPipes, { page, port, token, waitMs }: WaitOrder): Promise<string | null> {
  const server = await startPageServer({ assets: page, token, port }).catch((error: unknown) => String(error))
  if (typeof server === 'string') return `port ${port} cannot be used (${server}); choose another with port=`
  const socket = await pageWithin(server, waitMs)
  if (!socket) return `nobody opened the page within ${waitMs / 1000} s; wait= sets how long to wait`
  const ending = await pipes.join(socket)
  return ending.by === 'host' ? null : (ending.reason ?? 'the page was closed, reloaded or crashed')
}

async function pageWithin(server: PageServer, waitMs: number) {
  return Promise.race([server.page, delay(waitMs, null)])
}

await main(await readOrder<WaitOrder>())
