import { createServer } from 'node:net'
import { remember } from '../../domain/remember.ts'
import type { Target } from '../../domain/target.ts'
import type { WorkerKind } from '../contract.ts'
import { locatePackage } from '../install/resolve.ts'
import { newSecret } from '../loopback/secret.ts'
import { inheritedFor } from '../process/worker-variables.ts'
import { workerEntry } from '../worker-entry.ts'
import { BROWSER_SCHEMA } from './schema.ts'
import { pageOrder } from './work-order.ts'
import type { WaitOrder } from './worker.ts'

/** Where a target's page is to be opened: the same address for the whole run, whichever worker serves it. */
interface PageAddress {
  readonly token: string
  readonly port: number
}

const addresses = new Map<string, Promise<PageAddress>>()

const addressOf = ({ port, token }: PageAddress) => `http://127.0.0.1:${port}/#${token}`

/** onnxruntime-web in a browser that a person opens: Firefox, Safari, a phone's, one on another machine. */
export const BROWSER: WorkerKind = {
  name: 'browser',
  schema: BROWSER_SCHEMA,
  processOptions: ['threads', 'ort', 'port', 'wait'],
  single: true,
  untried: () =>
    'onnxruntime-web in a browser that you open: Firefox, Safari, one on another machine; a run prints the address',
  needs: async ({ options }, context) => [await locatePackage('onnxruntime-web', options.ort ?? null, context)],
  async launch(target, context) {
    const page = await pageOrder(target, context, null)
    const address = await pageAddressOf(target, context.notice)
    const waitMs = Number(target.options.wait ?? BROWSER_SCHEMA.options.wait) * 1000
    const order: WaitOrder = { page, ...address, waitMs }
    const argv = [process.execPath, workerEntry('browser/worker.js')]
    const inherits = inheritedFor('node', target, context)
    return { argv, order, inherits, channel: 'fd3', limits: { startMs: waitMs + GRACE_MS } }
  },
}

/** The worker says that nobody came, and how long it waited, before the host loses patience. */
const GRACE_MS = 10_000

async function pageAddressOf(target: Target, notice: (text: string) => void): Promise<PageAddress> {
  const key = JSON.stringify([target.name, target.device, target.options])
  const isKnown = addresses.has(key)
  const address = await remember(addresses, key, () => arrange(target, notice))
  if (isKnown) notice(`${target.name} is waiting for its page to come back: ${addressOf(address)}`)
  return address
}

async function arrange(target: Target, notice: (text: string) => void): Promise<PageAddress> {
  const address = { token: newSecret(), port: await freePort(Number(target.options.port ?? 0)) }
  const { port } = address
  notice(`${target.name} is waiting for its browser: open ${addressOf(address)}`)
  notice(`  from another machine: ssh -L ${port}:127.0.0.1:${port} <this machine>, then open the same address there`)
  return address
}

async function freePort(wished: number): Promise<number> {
  if (wished > 0) return wished
  const server = createServer()
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}
