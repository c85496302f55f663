import type { Worker } from './crew.ts'
import type { Opened } from './protocol/messages.ts'

/** Per worker; of more, the one that was used longest ago is closed. */
const MOST = 32

/** Sessions that stay open in their worker for equal models that come later. */
export class KeptSessions {
  readonly #byWorker = new WeakMap<Worker, Map<string, Opened>>()

  /** A session is in nobody else's hands while it is used. */
  take(worker: Worker, key: string): Opened | undefined {
    const kept = this.#byWorker.get(worker)
    const found = kept?.get(key)
    kept?.delete(key)
    return found
  }

  async keep(worker: Worker, key: string, opened: Opened): Promise<void> {
    const kept = this.#byWorker.get(worker) ?? new Map<string, Opened>()
    this.#byWorker.set(worker, kept)
    kept.set(key, opened)
    if (kept.size <= MOST) return
    const [oldest, { session }] = kept.entries().next().value!
    kept.delete(oldest)
    await worker.close(session)
  }
}
