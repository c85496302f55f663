import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '../../domain/clock.ts'
import type { Limits, WorkerLaunch } from '../contract.ts'
import { type FailureKind, RefusedRequest, WorkerFailure } from '../failure.ts'
import type { ChildExit } from '../process/child-exit.ts'
import { readPeakBytes, watchMemory } from '../process/memory-watch.ts'
import { encodeHead, type Frame, FrameReader, ProtocolError } from '../protocol/frame.ts'
import {
  type HostMessage,
  type HostRequest,
  parseWorkerMessage,
  type UncheckedTensorParams,
  type WireError,
  type WorkerMessage,
} from '../protocol/messages.ts'
import type { Outgoing } from '../protocol/outgoing.ts'
import { describeExit, exitDetail, overMemory } from './describe-failure.ts'
import { StageClock } from './stage-clock.ts'
import { startProcess, type WorkerProcess } from './worker-process.ts'

/** What belongs to a request: its limit, what follows it, and what to make of what comes back. */
interface RequestOptions<T> {
  readonly limitMs: number
  /** In words, for the time-out: what it did not finish. */
  readonly doing: string
  readonly parse: (result: unknown) => T
  readonly send?: (id: number) => Outgoing
  readonly onTensor?: (params: UncheckedTensorParams, bytes: Uint8Array) => Promise<void>
  /** When `onTensor` resolves, the bytes are no longer needed, and their memory is used again. */
  readonly reuses?: boolean
}

interface Pending {
  readonly id: number
  readonly clock: StageClock
  readonly onTensor: RequestOptions<unknown>['onTensor']
  readonly reuses: boolean
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
}

type EndMessage = Extract<WorkerMessage, { readonly type: 'end' }>
type ParamsOf<Method extends HostRequest['method']> = Extract<HostRequest, { readonly method: Method }>['params']

const GOODBYE_MS = 2000
const EMPTY = new Uint8Array(0)

/** The line to one worker: one request at a time, its answer, and why there is none. */
export class WorkerConnection {
  readonly #process: WorkerProcess
  readonly #reader = new FrameReader()
  readonly #stopWatching: () => void
  readonly #clock: Clock
  #pending: Pending | null = null
  #lastId = 0
  #ending = false
  #stopping = false
  /** Why it ends, in its own words. */
  #endMessage: EndMessage | null = null
  /** Why starting another one would not help. */
  lost: WorkerFailure | null = null

  constructor(launch: WorkerLaunch, limits: Limits, clock: Clock) {
    this.#clock = clock
    this.#process = startProcess(launch)
    const { pid } = this.#process
    this.#stopWatching =
      pid === null || limits.memoryBytes === null
        ? () => {}
        : watchMemory(pid, limits.memoryBytes, (found) => this.#fail('memory', () => overMemory(found, limits)))
    void this.#pump()
  }

  /** It will not answer any more. */
  get gone(): boolean {
    return this.#ending || this.#stopping
  }

  /** Its peak memory; null: unknown. */
  get peakBytes(): number | null {
    const { pid } = this.#process
    return pid === null ? null : readPeakBytes(pid)
  }

  /** What it printed so far has nothing to do with what comes. */
  forgetPrinted(): void {
    this.#process.tail.clear()
  }

  /** Runs some work during which an abort kills the worker. */
  async abortable<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    const abort = () => this.#fail('aborted', () => 'the worker was stopped because the run was aborted')
    if (signal?.aborted) abort()
    signal?.addEventListener('abort', abort)
    try {
      return await work()
    } finally {
      signal?.removeEventListener('abort', abort)
    }
  }

  /** Lets it end by itself by ending its input, and kills it when it does not. */
  async stop(): Promise<void> {
    this.#stopping = true
    this.#stopWatching()
    this.#process.input.end()
    const late = setTimeout(() => this.#process.kill(), GOODBYE_MS)
    await this.#process.exited
    clearTimeout(late)
  }

  async request<Method extends HostRequest['method'], T>(
    method: Method,
    params: ParamsOf<Method>,
    options: RequestOptions<T>,
  ): Promise<T> {
    const id = ++this.#lastId
    const message = { jsonrpc: '2.0', id, method, params } as Extract<HostRequest, { readonly method: Method }>
    const late = () => this.#fail('timeout', () => `the worker did not ${options.doing} within ${options.limitMs} ms`)
    const clock = new StageClock(options.limitMs, late, this.#clock)
    try {
      const answer = new Promise<T>((resolve, reject) => {
        const parsed = (result: unknown) => resolve(options.parse(result))
        const { onTensor, reuses = false } = options
        this.#pending = { id, clock, onTensor, reuses, resolve: parsed, reject }
      })
      if (this.#ending) this.#fail('died', (exit) => this.#endMessage?.reason ?? describeExit(exit))
      const sending = this.#sendAll(id, message, options.send)
      const result = await answer
      await sending
      return result
    } finally {
      clock.pause()
    }
  }

  async #sendAll(id: number, message: HostMessage, follow: RequestOptions<unknown>['send']): Promise<void> {
    try {
      await this.#write(message, EMPTY)
      if (!follow) return
      for await (const part of follow(id)) {
        if (this.#pending?.id !== id) return
        await this.#write(part.message, part.payload)
      }
    } catch (error) {
      this.#abandon(error)
    }
  }

  /** Resolves when the worker has taken it; a worker that is gone is reported by its exit. */
  #write(message: HostMessage, payload: Uint8Array): Promise<void> {
    const { input } = this.#process
    return new Promise((resolve) => {
      input.cork()
      input.write(encodeHead(message, payload.length))
      input.write(payload, () => resolve())
      input.uncork()
    })
  }

  async #pump(): Promise<void> {
    try {
      for await (const piece of this.#process.channel) {
        for (const frame of this.#reader.push(piece)) await this.#dispatch(frame)
      }
      await this.#onChannelEnd()
    } catch (error) {
      if (error instanceof ProtocolError)
        this.#fail('protocol', () => `the worker broke the protocol: ${error.message}`)
      else if (!this.#ending) await this.#onChannelEnd()
    }
  }

  async #onChannelEnd(): Promise<void> {
    const inTime = await Promise.race([this.#process.exited, delay(GOODBYE_MS, null, { ref: false })])
    if (inTime)
      this.#fail(
        this.#endMessage?.final ? 'lost' : 'died',
        (exit) => this.#endMessage?.reason ?? describeExit(exit, this.#reader.unfinished()),
      )
    else this.#fail('protocol', () => 'the worker closed its channel but went on running')
  }

  async #dispatch({ header, payload }: Frame): Promise<void> {
    const message = parseWorkerMessage(header)
    if (message.type === 'log' || message.type === 'progress') this.#process.say(message.text)
    else if (message.type === 'notice') this.#process.notify(message.text)
    else if (message.type === 'end') this.#endMessage = message
    else if (message.type === 'tensor') await this.#onTensor(message.params, payload)
    else if (message.type !== 'ignored') this.#onAnswer(message)
  }

  async #onTensor(params: UncheckedTensorParams, bytes: Uint8Array): Promise<void> {
    const pending = this.#pending
    if (!pending?.onTensor || params.request !== pending.id) {
      throw new ProtocolError(`tensor "${params.name}" for request ${params.request}, which expects none`)
    }
    pending.clock.pause()
    try {
      await pending.onTensor(params, bytes)
      if (pending.reuses) this.#reader.giveBack(bytes)
    } catch (error) {
      if (error instanceof ProtocolError) throw error
      this.#abandon(error)
    }
    if (this.#pending === pending) pending.clock.resume()
  }

  #onAnswer(message: Extract<WorkerMessage, { readonly type: 'result' | 'error' }>): void {
    const pending = this.#pending
    if (!pending || (message.id !== null && message.id !== pending.id)) {
      throw new ProtocolError(`an answer to request ${message.id}, which was never sent`)
    }
    if (message.type === 'result') pending.resolve(message.result)
    this.#pending = null
    if (message.type === 'error') this.#refuse(pending, message.error)
  }

  #refuse(pending: Pending, { message, data = {} }: WireError): void {
    const { stage = null, ends = false, ...detail } = data
    if (ends) this.#fail('died', (exit) => describeExit(exit))
    pending.reject(new RefusedRequest(message, detail, stage))
  }

  /** The host failed in the middle of a request, so the worker's state cannot be trusted. */
  #abandon(error: unknown): void {
    this.#pending?.reject(error)
    this.#pending = null
    this.#fail('aborted', () => 'the host could not continue')
  }

  #fail(kind: FailureKind, describe: (exit: ChildExit) => string): void {
    if (this.#ending && !this.#pending) return
    this.#ending = true
    this.#stopWatching()
    this.#process.kill()
    const pending = this.#pending
    this.#pending = null
    void this.#process.exited.then((exit) => {
      const unstarted = exit.problem !== null
      const message = unstarted ? `cannot start ${this.#process.argv[0]}: ${exit.problem.message}` : describe(exit)
      const detail = exitDetail(
        this.#process,
        exit,
        kind === 'died' || kind === 'lost' ? this.#endMessage?.detail : undefined,
      )
      const failure = new WorkerFailure(unstarted ? 'start' : kind, message, detail)
      if (kind === 'lost') this.lost = failure
      pending?.reject(failure)
    })
  }
}
