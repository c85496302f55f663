import { realpath, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Limits, WorkerLaunch } from '../contract.ts'
import { inheritedEnvironment } from '../process/inherited-environment.ts'
import type { WorkerProxy } from './proxy.ts'

/** Each holds some hundred megabytes; of more, those that were put back longest ago are stopped. */
const MOST = 8

/** Idle workers that outlive their pool, so that the next pool in this process need not start its own. */
export class WarmWorkers {
  readonly #idle: { readonly key: string; readonly worker: WorkerProxy }[] = []
  readonly #stopping = new Set<Promise<void>>()
  #isClosed = false

  /** One whose process was started in the same way; null: there is none that lives. */
  take(key: string): WorkerProxy | null {
    for (let i = this.#idle.length - 1; i >= 0; i--) {
      if (this.#idle[i]!.key !== key) continue
      const { worker } = this.#idle[i]!
      this.#idle.splice(i, 1)
      if (!worker.gone) return worker
      void this.#stop(worker)
    }
    return null
  }

  /** It has no open sessions, and nobody else holds it; one that cannot stay has ended when this resolves. */
  async put(key: string, worker: WorkerProxy): Promise<void> {
    if (this.#isClosed || worker.gone) return this.#stop(worker)
    this.#idle.push({ key, worker })
    if (this.#idle.length > MOST) await this.#stop(this.#idle.shift()!.worker)
  }

  /** Ends all of them; what is put back later ends at once. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const { worker } of this.#idle.splice(0)) void this.#stop(worker)
    await Promise.all(this.#stopping)
  }

  #stop(worker: WorkerProxy): Promise<void> {
    const stopped = worker.stop().finally(() => this.#stopping.delete(stopped))
    this.#stopping.add(stopped)
    return stopped
  }
}

/** All that decides how a worker's process was started; null: it belongs to one run only. */
export async function launchKey(launch: WorkerLaunch, purpose: string, limits: Limits): Promise<string | null> {
  const { scratch, onOutput, notice, isForeign, inherits, argv, shown = [], channel, order = null } = launch
  if (onOutput || notice || isForeign) return null
  const cwd = launch.cwd ?? process.cwd()
  const env = { ...inheritedEnvironment(launch.environment ?? process.env, inherits), ...launch.env }
  const words = await Promise.all(argv.map((word) => identityOf(word, cwd)))
  const key = JSON.stringify([purpose, words, order, shown, channel, cwd, sorted(env), sorted(limits)])
  return scratch === undefined ? key : key.replaceAll(JSON.stringify(scratch).slice(1, -1), SCRATCH)
}

/** Stands for a worker's own folder, whose name is another for every worker. */
const SCRATCH = '<scratch>'

function sorted(record: object): unknown {
  return Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1))
}

/** A word that names a file or a package stands for what lies there now, whatever link leads to it. */
async function identityOf(word: string, cwd: string): Promise<unknown> {
  const path = await realpath(resolve(cwd, word)).catch(() => null)
  return path === null ? word : [path, await changedAt(path), await changedAt(join(path, 'package.json'))]
}

async function changedAt(path: string): Promise<number | null> {
  return stat(path).then(
    ({ ctimeMs }) => ctimeMs,
    () => null,
  )
}
