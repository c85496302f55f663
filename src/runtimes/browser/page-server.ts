import type { WebSocket } from 'ws'
import type { GuardRules } from '../loopback/guard.ts'
import { isSecret } from '../loopback/secret.ts'
import { openLoopback, type UpgradeListener } from '../loopback/server.ts'
import { acceptSockets } from '../loopback/web-sockets.ts'
import { type Assets, createAssetApp, PAGE_HEADERS } from './assets.ts'

const RULES: GuardRules = { mayBeForwarded: true, isPublic: true }

export interface PageServer {
  /** What to open in the browser; the token behind the # is never sent to any server by itself. */
  readonly address: string
  /** The first page that connects with the token; there is only one. */
  readonly page: Promise<WebSocket>
  close(): Promise<void>
}

export interface PageServerOptions {
  readonly assets: Assets
  readonly token: string
  /** 0: one that is free. */
  readonly port: number
}

/** Serves Assay's page on the loopback interface and waits for it to connect back. */
export async function startPageServer({ assets, token, port }: PageServerOptions): Promise<PageServer> {
  const { page, onUpgrade } = awaitPage(token)
  const { origin, close } = await openLoopback({
    app: createAssetApp(assets),
    rules: RULES,
    headers: PAGE_HEADERS,
    port,
    onUpgrade,
  })
  return { address: `${origin}/#${token}`, page, close }
}

function awaitPage(token: string): { page: Promise<WebSocket>; onUpgrade: UpgradeListener } {
  let isTaken = false
  let take: (socket: WebSocket) => void
  const page = new Promise<WebSocket>((resolve) => {
    take = resolve
  })
  const onUpgrade = acceptSockets(RULES, (query) => {
    if (!isSecret(query.get('token') ?? '', token)) return '401 Unauthorized'
    if (isTaken) return '409 Conflict'
    isTaken = true
    return take
  })
  return { page, onUpgrade }
}
