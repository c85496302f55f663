import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { build } from 'rolldown'
import { root, temporaryFolder } from '../../support/assay.ts'
import type { Finding, Task, Told } from './contract.ts'

/** At most so long for one input, before it is tried again alone. */
const HANGS_AFTER_MS = 2000
/** A busy machine may keep a thread waiting; nothing is a hang that ends when it has this long for itself. */
const ALONE_MS = 20_000
const LOOK_EVERY_MS = 250
/** The number of no input, while a thread loads what it reads with. */
const STARTING = -1
const STARTS_WITHIN_MS = 120_000
const MEGABYTES = 512

interface FuzzOptions {
  readonly threads?: number
  readonly aloneMs?: number
}

interface Fuzzed {
  readonly inputs: number
  readonly findings: readonly Finding[]
}

/** A thread's script and all that it reads with, from the sources, in one file. */
export async function bundleThread(entry: string): Promise<string> {
  const file = join(temporaryFolder('fuzz'), 'thread.mjs')
  await build({
    cwd: root,
    input: join(root, 'test/reliability/fuzz', entry),
    platform: 'node',
    external: ['jiti', 'vitest', 'bufferutil', 'utf-8-validate', /^onnxruntime/],
    logLevel: 'silent',
    output: { file, format: 'es', codeSplitting: false },
  })
  return file
}

/** Gives all inputs of all tasks to threads; one that hangs or takes too much memory is left behind, and the rest goes on. */
export async function fuzz(script: string, tasks: readonly Task[], options: FuzzOptions = {}): Promise<Fuzzed> {
  const { threads = 2, aloneMs = ALONE_MS } = options
  const left = [...tasks].reverse()
  const findings: Finding[] = []
  const work = async () => {
    const thread = new FuzzThread(script, aloneMs)
    for (let task = left.pop(); task; task = left.pop()) findings.push(...(await thread.work(task)))
    await thread.end()
  }
  await Promise.all(Array.from({ length: threads }, work))
  return { inputs: tasks.reduce((sum, { from, to }) => sum + to - from, 0), findings }
}

class FuzzThread {
  readonly #script: string
  readonly #aloneMs: number
  readonly #at = new Int32Array(new SharedArrayBuffer(4))
  readonly #folder = temporaryFolder('fuzz')
  #worker: Worker | null = null

  constructor(script: string, aloneMs: number) {
    this.#script = script
    this.#aloneMs = aloneMs
  }

  async work(task: Task): Promise<Finding[]> {
    const findings: Finding[] = []
    for (let from = task.from; from < task.to; ) {
      const stopped = await this.#run({ ...task, from }, HANGS_AFTER_MS, findings)
      if (stopped === null) return findings
      const number = Math.max(from, Atomics.load(this.#at, 0))
      const alone = await this.#run({ ...task, from: number, to: number + 1 }, this.#aloneMs, findings)
      if (alone !== null) findings.push({ ...task, number, kind: alone, text: `${alone} of one input` })
      from = number + 1
    }
    return findings
  }

  async end(): Promise<void> {
    await this.#worker?.terminate()
    this.#worker = null
  }

  /** Null: all inputs were read. Otherwise the thread is gone, and the number that it was at tells at which input. */
  #run(task: Task, limitMs: number, findings: Finding[]): Promise<'hang' | 'memory' | null> {
    const worker = this.#start()
    return new Promise((resolve) => {
      const isStuck = this.#watch(limitMs)
      const timer = setInterval(() => isStuck() && end('hang'), LOOK_EVERY_MS)
      const end = async (how: 'hang' | 'memory' | null) => {
        clearInterval(timer)
        worker.off('error', gone).off('exit', gone).off('message', hear)
        if (how !== null) await this.end()
        resolve(how)
      }
      const gone = () => end('memory')
      const hear = (told: Told) => {
        if (told.type === 'done') return end(null)
        const { number, text } = told
        findings.push({ parser: task.parser, seed: task.seed, number, kind: 'crash', text })
      }
      worker.on('error', gone).on('exit', gone).on('message', hear)
      Atomics.store(this.#at, 0, STARTING)
      worker.postMessage(task)
    })
  }

  #start(): Worker {
    if (this.#worker) return this.#worker
    const resourceLimits = { maxOldGenerationSizeMb: MEGABYTES }
    const workerData = { folder: this.#folder, at: this.#at }
    // Libraries print what they do not know.
    this.#worker = new Worker(this.#script, { workerData, resourceLimits, stdout: true, stderr: true })
    for (const stream of [this.#worker.stdout, this.#worker.stderr]) stream.resume()
    // Whoever waits hears of it too.
    this.#worker.on('error', () => {})
    return this.#worker
  }

  /** Whether the thread is at the same input for too long. */
  #watch(limitMs: number): () => boolean {
    let [number, sinceMs] = [-1, Date.now()]
    return () => {
      const now = Atomics.load(this.#at, 0)
      if (now !== number) [number, sinceMs] = [now, Date.now()]
      return Date.now() - sinceMs > (number === STARTING ? STARTS_WITHIN_MS : limitMs)
    }
  }
}
