import { Worker } from 'node:worker_threads'
import type { LogEvent } from '../../../domain/convergence.ts'
import { builtFile } from '../../../files/disk/own-files.ts'
import type { Parsing } from '../config/contract.ts'
import { unpackEvents } from '../logs/packed-events.ts'
import type { ParsedParts, ReadProblem, StreamPart } from './log-parser.ts'

export interface ReadSetup {
  readonly parsing: Parsing
  readonly patternMs: number
  /** 1 if nobody listens any more; shared with the thread. */
  readonly isMute: Int32Array
}

export type ReadOrder = { readonly kind: 'parts'; readonly parts: readonly StreamPart[] } | { readonly kind: 'end' }

export interface ReadAnswer extends ParsedParts {
  readonly end: ReadEnd | null
}

interface ReadEnd {
  readonly lineCount: number
  readonly warnings: readonly string[]
}

export interface ReadListener {
  onEvents(events: readonly LogEvent[]): void
  /** Nothing more can be read. */
  onProblem(problem: ReadProblem): void
  /** What waited was read. */
  onRoom(): void
  /** The thread is gone, or the listener failed. */
  onFailure(error: unknown): void
}

/** How much may wait to be read before the program is held back. */
const MOST_WAITING_BYTES = 4 * 2 ** 20

/** One that is worked on and one that waits for it. */
const MOST_ORDERS = 2

/** What an order has at most; its parts share one budget of time. */
const MOST_ORDER_BYTES = 512 * 1024

/** What a part takes beside its bytes: a program may print them one by one. */
const PART_BYTES = 512

/** Reads a log in a thread of its own, so that a pattern which takes long keeps nothing else waiting. */
export class LogReading {
  readonly #isMute = new Int32Array(new SharedArrayBuffer(4))
  readonly #thread: Worker
  readonly #listener: ReadListener
  readonly #ended: Promise<ReadEnd>
  readonly #waiting: StreamPart[] = []
  #waitingBytes = 0
  /** Bytes of those under way. */
  readonly #orders: number[] = []
  #hasEnded = false
  #settle: (end: ReadEnd) => void = () => {}
  #refuse: (error: unknown) => void = () => {}

  constructor(parsing: Parsing, patternMs: number, listener: ReadListener) {
    this.#listener = listener
    this.#ended = new Promise((resolve, reject) => {
      this.#settle = resolve
      this.#refuse = reject
    })
    // Handled where the end is awaited; until then only the listener is told.
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

  feed(stream: number, bytes: Uint8Array, isStart = false): void {
    this.#waitingBytes += bytes.length + PART_BYTES
    this.#waiting.push({ stream, bytes: new Uint8Array(bytes), isStart })
    this.#sendWaiting()
  }

  /** Resolves when everything is read. */
  end(): Promise<ReadEnd> {
    this.#hasEnded = true
    this.#sendWaiting()
    return this.#ended
  }

  /** What is still to come is not looked at. */
  mute(): void {
    Atomics.store(this.#isMute, 0, 1)
  }

  async stop(): Promise<void> {
    await this.#thread.terminate()
  }

  /** What comes while the thread is busy is read in one go. */
  #sendWaiting(): void {
    if (this.#orders.length >= MOST_ORDERS) return
    if (this.#waiting.length > 0) this.#sendParts()
    else if (this.#hasEnded) this.#send({ kind: 'end' }, 0)
  }

  #sendParts(): void {
    let byteLength = 0
    const tooMany = this.#waiting.findIndex(({ bytes }) => {
      byteLength += bytes.length + PART_BYTES
      return byteLength >= MOST_ORDER_BYTES
    })
    const parts = this.#waiting.splice(0, tooMany < 0 ? this.#waiting.length : tooMany + 1)
    this.#send(
      { kind: 'parts', parts },
      byteLength,
      parts.map(({ bytes }) => bytes.buffer),
    )
  }

  #send(order: ReadOrder, byteLength: number, memory: readonly ArrayBuffer[] = []): void {
    this.#orders.push(byteLength)
    this.#thread.postMessage(order, memory)
  }

  #take(answer: ReadAnswer): void {
    const wasFull = this.isFull
    this.#waitingBytes -= this.#orders.shift()!
    this.#sendWaiting()
    try {
      for (const packed of answer.events) {
        const events = unpackEvents(packed)
        if (events.length > 0) this.#listener.onEvents(events)
      }
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
  return new Worker(builtFile('suites/convergence/program/log-thread.js'), { workerData: setup })
}
