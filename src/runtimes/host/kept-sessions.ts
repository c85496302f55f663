import { remember } from '../../domain/remember.ts'
import type { Target } from '../../domain/target.ts'
import type { ModelRef } from '../contract.ts'
import type { Opened } from '../protocol/messages.ts'
import type { Worker } from './worker-allocator.ts'

/** A model that somebody wants a session of. */
export interface SessionRequest {
  readonly target: Target
  readonly model: ModelRef
  /** Stands for the model's content: its session stays open for equal models that come later. */
  readonly shareAs?: string
  readonly taps?: readonly string[]
  /** Gets all that tools print on the way, where the worker has such tools. */
  readonly logs?: string
}

export interface TakenSession {
  readonly opened: Opened
  /** null where a session of an equal model was still open. */
  readonly compileMs: number | null
}

/** Per worker; of more, the one that was used longest ago is closed. */
const MOST = 32

export async function openOrTake(
  worker: Worker,
  request: SessionRequest,
  kept: KeptSessions | null,
): Promise<TakenSession> {
  const { target, model, taps } = request
  const key = sessionKey(request)
  const found = key === null ? undefined : kept?.take(worker, key)
  if (found) return { opened: found, compileMs: null }
  const startedAt = performance.now()
  const logs = logsFor(worker, request)
  const opened = await worker.open(model, { target, ...(taps && { taps }), ...(logs !== undefined && { logs }) })
  return { opened, compileMs: opened.durationMs ?? performance.now() - startedAt }
}

/** A worker without our files has nowhere to write them to. */
export function logsFor({ probe }: Worker, { logs }: Pick<SessionRequest, 'logs'>): string | undefined {
  return probe.available && !probe.capabilities.blobs ? logs : undefined
}

/** A session in which all went well may stay; every other is closed. */
export async function putAway(
  worker: Worker,
  request: SessionRequest,
  opened: Opened,
  kept: KeptSessions | null,
): Promise<void> {
  if (worker.gone) return
  const key = kept && sessionKey(request)
  await (kept && key ? kept.keep(worker, key, opened) : worker.close(opened.session))
}

function sessionKey({ target, shareAs, taps }: SessionRequest): string | null {
  return shareAs === undefined || taps ? null : JSON.stringify([shareAs, target.options, target.files])
}

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
    const kept = remember(this.#byWorker, worker, () => new Map())
    kept.set(key, opened)
    if (kept.size <= MOST) return
    const [oldest, { session }] = kept.entries().next().value!
    kept.delete(oldest)
    await worker.close(session)
  }
  /** Closes everything open in a worker before others use it. */
  async clear(worker: Worker): Promise<void> {
    const kept = this.#byWorker.get(worker)
    this.#byWorker.delete(worker)
    for (const { session } of kept?.values() ?? []) await worker.close(session)
  }
}
