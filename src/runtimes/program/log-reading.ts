import { Worker } from 'node:worker_threads'
import type { LogEvent } from '../../domain/convergence.ts'
import type { Parsing } from '../../files/convergence/contract.ts'
import type { ParsedPart } from './log-parser.ts'

export interface ReadSetup {
  readonly parsing: Parsing
  readonly patternMs: number
  /** 1 where nobody listens any more; shared with the thread. */
  readonly isMute: Int32Array
}

export type ReadOrder =
  | { readonly kind: 'part'; readonly stream: 0 | 1; readonly bytes: Uint8Array }
  | { readonly kind: 'end' }

export interface ReadAnswer extends ParsedPart {
  readonly byteLength: number
  readonly end: ReadEnd | null
}

interface ReadEnd {
  readonly lineCount: number
  readonly warnings: readonly string[]
}

export interface ReadListener {
  onEvents(events: readonly LogEvent[]): void
  /** A pattern did not end in time. */
  onProblem(problem: string): void
  /** What waited was read. */
  onRoom(): void
  /** The thread is gone, or the listener failed. */
  onFailure(error: unknown): void
}

/** So much may wait to be read; then the program has to. */
const MOST_WAITING_BYTES = 4 * 2 ** 20

/** Reads a log in a thread of its own, so that a pattern which takes long keeps nothing else waiting. */
export class LogReading {
  readonly #isMute = new Int32Array(new SharedArrayBuffer(4))
  readonly #thread: Worker
  readonly #listener: ReadListener
  readonly #ended: Promise<ReadEnd>
  #waitingBytes = 0
  #settle: (end: ReadEnd) => void = () => {}
  #refuse: (error: unknown) => void = () => {}

  constructor(parsing: Parsing, patternMs: number, listener: ReadListener) {
    this.#listener = listener
    this.#ended = new Promise((resolve, reject) => {
      this.#settle = resolve
      this.#refuse = reject
    })
    // Whoever awaits the end hears of it; until then only the listener does.
    this.#ended.catch(() => {})
    this.#thread = startThread({ parsing, patternMs, isMute: this.#isMute })
    this.#thread.on('message', (answer: ReadAnswer) => this.#take(answer))
    this.#thread.on('error', (error) => this.#fail(error))
    this.#thread.on('exit', (code) => {
      this.#refuse(new Error(`the thread that reads a log ended with code ${code}: this is a bug in Assay`))
    })
  }

  get isFull(): boolean {
    return this.#waitingBytes > MOST_WAITING_BYTES
  }

  feed(stream: 0 | 1, bytes: Uint8Array): void {
    this.#waitingBytes += bytes.length
    // The program's bytes may lie in a larger piece of memory, all of which would be copied.
    this.#send({ kind: 'part', stream, bytes: Uint8Array.from(bytes) })
  }

  /** Resolves when everything is read. */
  end(): Promise<ReadEnd> {
    this.#send({ kind: 'end' })
    return this.#ended
  }

  /** What is still to come is not looked at. */
  mute(): void {
    Atomics.store(this.#isMute, 0, 1)
  }

  async stop(): Promise<void> {
    await this.#thread.terminate()
  }

  #send(order: ReadOrder): void {
    this.#thread.postMessage(order, order.kind === 'part' ? [order.bytes.buffer as ArrayBuffer] : [])
  }

  #take(answer: ReadAnswer): void {
    const wasFull = this.isFull
    this.#waitingBytes -= answer.byteLength
    try {
      if (answer.events.length > 0) this.#listener.onEvents(answer.events)
      if (answer.problem !== null) this.#listener.onProblem(answer.problem)
    } catch (error) {
      this.#fail(error)
    }
    if (wasFull && !this.isFull) this.#listener.onRoom()
    if (answer.end !== null) this.#settle(answer.end)
  }

  #fail(error: unknown): void {
    this.#refuse(error)
    this.#listener.onFailure(error)
  }
}

function startThread(setup: ReadSetup): Worker {
  // Under a test runner this module itself is source.
  const isSource = import.meta.url.endsWith('.ts')
  const path = isSource ? '../../../dist/runtimes/program/log-thread.js' : './log-thread.js'
  return new Worker(new URL(path, import.meta.url), { workerData: setup })
}
