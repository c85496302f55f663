import { randomBytes } from 'node:crypto'
import { createServer } from 'node:net'
import type { Target } from '../../domain/target.ts'
import type { WorkerKind } from '../contract.ts'
import { locatePackage } from '../resolve.ts'
import { workerEntry } from '../worker-entry.ts'
import { BROWSER_SCHEMA } from './schema.ts'
import { pageOrder } from './work-order.ts'
import type { WaitOrder } from './worker.ts'

/** Where a target's page is to be opened: the same address for the whole run, whichever worker serves it. */
interface Meeting {
  readonly token: string
  readonly port: number
}

const meetings = new Map<string, Promise<Meeting>>()

const addressOf = ({ port, token }: Meeting) => `http://127.0.0.1:${port}/#${token}`

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
    const meeting = await meetingOf(target, context.notice)
    const waitMs = Number(target.options.wait ?? BROWSER_SCHEMA.options.wait) * 1000
    const order: WaitOrder = { page, ...meeting, waitMs }
    const argv = [process.execPath, workerEntry('browser/worker.js'), JSON.stringify(order)]
    return { argv, channel: 'fd3', limits: { startMs: waitMs + GRACE_MS } }
  },
}

/** The worker says that nobody came, and how long it waited, before the host loses patience. */
const GRACE_MS = 10_000

async function meetingOf(target: Target, notice: (text: string) => void): Promise<Meeting> {
  const key = JSON.stringify([target.name, target.device, target.options])
  const known = meetings.get(key)
  if (known) {
    notice(`${target.name} waits for its page to come back: ${addressOf(await known)}`)
    return known
  }
  const arranged = arrange(target, notice)
  meetings.set(key, arranged)
  return arranged
}

async function arrange(target: Target, notice: (text: string) => void): Promise<Meeting> {
  const meeting = { token: randomBytes(16).toString('hex'), port: await freePort(Number(target.options.port ?? 0)) }
  const { port } = meeting
  notice(`${target.name} waits for its browser: open ${addressOf(meeting)}`)
  notice(`  from another machine: ssh -L ${port}:127.0.0.1:${port} <this machine>, then the same address there`)
  return meeting
}

async function freePort(wished: number): Promise<number> {
  if (wished > 0) return wished
  const server = createServer()
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}
