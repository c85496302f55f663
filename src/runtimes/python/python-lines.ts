import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { inheritedEnvironment } from '../process/inherited-environment.ts'
import { Tail } from '../process/tail.ts'

type Child = ChildProcessByStdio<Writable, Readable, Readable>

interface Waiting {
  readonly resolve: (answer: unknown) => void
  readonly reject: (error: PythonDied) => void
}

/** Before an answer, since libraries print too. */
const ANSWER = 'assay: '
/** A host may go on for hours after its last question. */
const IDLE_MS = 30_000

/** The program of a question ended before its answer. */
export class PythonDied extends Error {
  readonly stderr: string
  constructor(message: string, stderr: string) {
    super(message)
    this.name = 'PythonDied'
    this.stderr = stderr
  }
}

/**
 * A Python program that answers a line of JSON with another, started with the first question, since its libraries take
 * seconds to import. It ends when nothing is asked for a while, or with this process, which it does not keep alive.
 */
export class PythonLines {
  readonly #argv: readonly [string, ...string[]]
  readonly #limitMs: number
  readonly #idleMs: number
  #idle: NodeJS.Timeout | undefined
  #child: Child | null = null
  readonly #stderr = new Tail()
  #waiting: Waiting | null = null
  #last: Promise<unknown> = Promise.resolve()

  constructor(argv: readonly [string, ...string[]], limitMs: number, idleMs = IDLE_MS) {
    this.#argv = argv
    this.#limitMs = limitMs
    this.#idleMs = idleMs
  }

  /** One question after the other. */
  ask(question: unknown): Promise<unknown> {
    const answer = this.#last.then(() => this.#askNow(question))
    this.#last = answer.catch(() => {})
    return answer
  }

  async #askNow(question: unknown): Promise<unknown> {
    clearTimeout(this.#idle)
    const child = this.#child ?? this.#start()
    setReferenced(child, true)
    const timer = setTimeout(() => this.#end(child, `no answer within ${this.#limitMs / 1000} s`), this.#limitMs)
    try {
      return await new Promise((resolve, reject) => {
        this.#waiting = { resolve, reject }
        child.stdin.write(`${JSON.stringify(question)}\n`)
      })
    } finally {
      clearTimeout(timer)
      this.#waiting = null
      setReferenced(child, false)
      this.#idle = setTimeout(() => this.#end(child, 'nothing was asked'), this.#idleMs).unref()
    }
  }

  #start(): Child {
    const [program, ...words] = this.#argv
    const env = { ...inheritedEnvironment(process.env, []), OMP_NUM_THREADS: '1', PYTHONDONTWRITEBYTECODE: '1' }
    const child = spawn(program, words, { env, stdio: ['pipe', 'pipe', 'pipe'] })
    this.#child = child
    createInterface({ input: child.stdout }).on('line', (line) => this.#take(line))
    this.#stderr.drain(child.stderr)
    // How it ended is said below.
    child.stdin.on('error', () => {})
    child.on('error', (error) => this.#end(child, error.message))
    child.on('close', (code, signal) => this.#end(child, `it ended with ${signal ?? `exit code ${code}`}`))
    return child
  }

  #take(line: string): void {
    if (line.startsWith(ANSWER)) this.#waiting?.resolve(JSON.parse(line.slice(ANSWER.length)))
  }

  #end(child: Child, why: string): void {
    if (this.#child !== child) return
    this.#child = null
    child.kill('SIGKILL')
    this.#waiting?.reject(new PythonDied(why, this.#stderr.text()))
  }
}

function setReferenced(child: Child, isReferenced: boolean): void {
  for (const each of [child, child.stdin, child.stdout, child.stderr] as { ref?(): void; unref?(): void }[]) {
    if (isReferenced) each.ref?.()
    else each.unref?.()
  }
}
