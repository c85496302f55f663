import type { Clock } from '../../domain/clock.ts'
import { StageError } from '../../domain/errors.ts'
import type { Target } from '../../domain/target.ts'
import type { LaunchContext, Limits, RuntimeKind, WorkerLaunch } from '../contract.ts'
import { WorkerFailure } from '../failure.ts'
import { runtimeKind } from '../registry.ts'
import { InProcessHost } from './in-process.ts'
import { KeyedLock } from './keyed-lock.ts'
import { WorkerProxy } from './proxy.ts'
import { launchKey, type WarmWorkers } from './warm-workers.ts'

export type Worker = WorkerProxy | InProcessHost

/** By name. */
export type RuntimeKinds = Readonly<Record<string, RuntimeKind>>

const MAX_SESSIONS = 500
/** Reference and targets take turns, so each keeps its warm workers while others are busy; of more than these, not all. */
const KEPT_TARGETS = 6

interface AllocatorOptions {
  readonly size: number
  readonly context: LaunchContext
  readonly limits: Limits
  readonly clock?: Clock
  readonly kinds?: RuntimeKinds
  /** Where idle workers go in the end, and come from in the beginning. */
  readonly warm?: WarmWorkers
  /** Closes what is still open in a worker before others get it. */
  readonly clear: (worker: Worker) => Promise<void>
}

interface WorkerRequest {
  readonly fresh: boolean
  readonly signal?: AbortSignal
  /** Targets of workers that the same work has already; it needs no further place. */
  readonly beside?: readonly Target[]
}

interface Waiting {
  readonly admit: () => void
}

/** The workers of a pool: how many are busy, which are warm, when one is replaced. */
export class WorkerAllocator {
  readonly #options: AllocatorOptions
  readonly #idle: { readonly key: string; readonly turn: string; readonly worker: Worker }[] = []
  readonly #waiting: Waiting[] = []
  readonly #stopping = new Set<Promise<void>>()
  readonly #locks = new KeyedLock()
  readonly #keys = new Set<string>()
  /** How they were started, of those that others may use later. */
  readonly #launches = new WeakMap<Worker, string>()
  /** By key: why it did not come. */
  readonly #absent = new Map<string, WorkerFailure>()
  readonly #closing = new AbortController()
  #busy = 0

  constructor(options: AllocatorOptions) {
    this.#options = options
  }

  /** A warm worker for this target or a new one; waits while `size` others are busy. */
  async acquire(target: Target, request: WorkerRequest): Promise<Worker> {
    const kind = await this.#kindOf(target)
    const key = workerKey(kind, target)
    if (isSingle(kind)) refuseSecond(kind, target, request.beside ?? [])
    await this.#enter(kind, target, key, request)
    try {
      const warm = this.#takeIdle(key)
      if (warm && !request.fresh) return warm
      if (warm && isSingle(kind)) await this.#retire(warm)
      else if (warm) this.#idle.push({ key, turn: turnKey(kind, target), worker: warm })
      if (isSingle(kind)) await this.#vacate(turnKey(kind, target))
      this.#makeRoom()
      return isSingle(kind)
        ? await this.#startOnly(kind, key, target, request.signal)
        : await this.#start(kind, target, request)
    } catch (error) {
      this.#leave(turnKey(kind, target), request.beside)
      throw error
    }
  }

  /** Whether a worker of one may also work for the other. */
  async shareWorkers(one: Target, two: Target): Promise<boolean> {
    return workerKey(await this.#kindOf(one), one) === workerKey(await this.#kindOf(two), two)
  }

  async release(target: Target, worker: Worker, keep: boolean, beside: readonly Target[] = []): Promise<void> {
    const kind = await this.#kindOf(target)
    const turn = turnKey(kind, target)
    if (worker.lost && isSingle(kind)) this.#absent.set(workerKey(kind, target), worker.lost)
    if (keep && !this.#closing.signal.aborted && !worker.gone && worker.sessions < MAX_SESSIONS) {
      this.#idle.push({ key: workerKey(kind, target), turn, worker })
    } else {
      const stopped = this.#retire(worker)
      if (isSingle(kind)) await stopped
    }
    this.#leave(turn, beside)
  }

  /** Workers that are still starting, for a probe that nobody awaits any more, are ended too. */
  async close(): Promise<void> {
    this.#closing.abort(new Error('the pool was closed'))
    await Promise.all(this.#idle.splice(0).map(({ worker }) => this.#handOver(worker)))
    await Promise.all(this.#stopping)
  }

  /** To those who come after this pool, or to its end. */
  async #handOver(worker: Worker): Promise<void> {
    const launch = this.#launches.get(worker)
    if (launch === undefined || !(worker instanceof WorkerProxy)) return this.#retire(worker)
    try {
      await this.#options.clear(worker)
      await this.#options.warm?.put(launch, worker)
    } catch {
      // It cannot be trusted any more, and nobody waits for what it did.
      await this.#retire(worker)
    }
  }

  async #kindOf({ runtime }: Target): Promise<RuntimeKind> {
    return this.#options.kinds?.[runtime] ?? runtimeKind(runtime)
  }

  async #enter(kind: RuntimeKind, target: Target, key: string, { signal, beside = [] }: WorkerRequest): Promise<void> {
    this.#keys.add(key)
    const turn = turnKey(kind, target)
    if (isSingle(kind)) await this.#locks.begin(turn)
    try {
      if (beside.length === 0) await this.#admission(signal)
    } catch (error) {
      this.#locks.end(turn)
      throw error
    }
  }

  /** A single resource that did not start is not waited for again. */
  async #startOnly(kind: RuntimeKind, key: string, target: Target, signal: AbortSignal | undefined): Promise<Worker> {
    const absence = this.#absent.get(key)
    if (absence) throw absence
    try {
      return await this.#start(kind, target, { fresh: true, ...(signal && { signal }) })
    } catch (error) {
      if (error instanceof WorkerFailure) this.#absent.set(key, error)
      throw error
    }
  }

  async #start(kind: RuntimeKind, target: Target, { fresh, signal }: WorkerRequest): Promise<Worker> {
    const { context, limits, clock } = this.#options
    if ('create' in kind) return InProcessHost.start(await kind.create(target, context), target.device)
    const { environment, onOutput } = context
    const launch = {
      environment,
      ...(await kind.launch(target, context, limits)),
      ...(onOutput && { onOutput: (line: string) => onOutput(target.name, line) }),
    }
    const ending = AbortSignal.any([this.#closing.signal, ...(signal ? [signal] : [])])
    ending.throwIfAborted()
    const start = () =>
      WorkerProxy.start(launch, target.device, { ...limits, ...launch.limits }, { signal: ending, clock })
    return fresh ? start() : this.#warmOr(start, launch, workerKey(kind, target))
  }

  /** One that an earlier pool started in the same way, or a new one that later pools may have. */
  async #warmOr(start: () => Promise<WorkerProxy>, launch: WorkerLaunch, purpose: string): Promise<Worker> {
    const { warm, limits } = this.#options
    const key = warm ? await launchKey(launch, purpose, { ...limits, ...launch.limits }) : null
    if (!warm || key === null) return start()
    const worker = warm.take(key) ?? (await start())
    this.#launches.set(worker, key)
    return worker
  }

  /** What other targets keep warm there has to go first. */
  async #vacate(turn: string): Promise<void> {
    const others = this.#idle.filter((idle) => idle.turn === turn)
    for (const idle of others) this.#idle.splice(this.#idle.indexOf(idle), 1)
    await Promise.all(others.map(({ worker }) => this.#retire(worker)))
  }

  #takeIdle(key: string): Worker | null {
    for (let i = this.#idle.length - 1; i >= 0; i--) {
      if (this.#idle[i]!.key !== key) continue
      const { worker } = this.#idle[i]!
      this.#idle.splice(i, 1)
      if (!worker.gone) return worker
    }
    return null
  }

  /** Closes the workers that were idle longest. */
  #makeRoom(): void {
    const most = this.#options.size * (1 + Math.min(this.#keys.size, KEPT_TARGETS))
    while (this.#idle.length > 0 && this.#busy + this.#idle.length > most) {
      void this.#retire(this.#idle.shift()!.worker)
    }
  }

  #retire(worker: Worker): Promise<void> {
    const stopped = worker.stop().finally(() => this.#stopping.delete(stopped))
    this.#stopping.add(stopped)
    return stopped
  }

  async #admission(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted()
    if (this.#busy < this.#options.size) {
      this.#busy++
      return
    }
    await new Promise<void>((resolve, reject) => {
      const abort = () => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1)
        reject(signal?.reason)
      }
      const admit = () => {
        signal?.removeEventListener('abort', abort)
        resolve()
      }
      const waiting = { admit }
      this.#waiting.push(waiting)
      signal?.addEventListener('abort', abort, { once: true })
    })
  }

  /** Passes the place to the next in line, so that nobody jumps the queue. */
  #leave(turn: string, beside: readonly Target[] = []): void {
    this.#locks.end(turn)
    if (beside.length > 0) return
    const next = this.#waiting.shift()
    if (next) next.admit()
    else this.#busy--
  }
}

function isSingle(kind: RuntimeKind): boolean {
  return 'single' in kind && kind.single !== undefined
}

/** Those who share it take turns. */
function turnKey(kind: RuntimeKind, target: Target): string {
  if (!('single' in kind) || typeof kind.single !== 'function') return workerKey(kind, target)
  return JSON.stringify([target.runtime, kind.single(target)])
}

/** Both would wait for each other for ever. */
function refuseSecond(kind: RuntimeKind, target: Target, beside: readonly Target[]): void {
  const turn = turnKey(kind, target)
  if (!beside.some((other) => other.runtime === target.runtime && turnKey(kind, other) === turn)) return
  throw new StageError('compile', 'there is only one of it, so it cannot be reference and target at the same time')
}

function workerKey(kind: RuntimeKind, target: Target): string {
  const names = 'create' in kind ? [] : kind.processOptions
  const options = names.map((name) => `${name}=${target.options[name] ?? kind.schema.options[name] ?? ''}`)
  return JSON.stringify([target.runtime, target.version, target.device, ...options])
}
