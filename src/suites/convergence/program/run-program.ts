import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LogEvent } from '../../../domain/convergence.ts'
import { cleanText } from '../../../domain/text.ts'
import { WorkerFailure } from '../../../runtimes/failure.ts'
import { eachLine } from '../../../runtimes/process/each-line.ts'
import { Tail } from '../../../runtimes/process/tail.ts'
import type { ProgramOutcome, ProgramRequest } from './contract.ts'
import { LogFile } from './log-file.ts'
import { FIRST_FILE, type ReadProblem } from './log-parser.ts'
import { LogReading } from './log-reading.ts'
import { SourceFollower, type TakePart } from './source-follower.ts'
import { type StartedProgram, startProgram } from './start-program.ts'
import { Watch } from './watch.ts'

/** How often a file of metrics is looked at. */
const POLL_MS = 200

/** Looking at it is to take no more than a part of our time, however often lines come. */
const POLL_SHARE = 5

type Timeless = Omit<ProgramOutcome, 'durationMs'>

/** Runs a training program until it ends, is stopped, is late or has logged enough, and reads its log meanwhile. */
export async function runProgram(request: ProgramRequest): Promise<ProgramOutcome> {
  const startedAt = performance.now()
  const log = new LogFile(request.logFile)
  const outcome = await started(request, log).catch((error: unknown) => {
    log.close()
    if (error instanceof WorkerFailure) return notStarted(error.message)
    throw error
  })
  const warnings = outcome.ending === 'not-started' ? [] : [...outcome.warnings, ...log.close()]
  return { ...outcome, warnings, durationMs: performance.now() - startedAt }
}

async function started(request: ProgramRequest, log: LogFile): Promise<Timeless> {
  const { sourcePath, parsing } = request
  const source = sourcePath === null ? null : new SourceFollower(sourcePath, parsing.source.kind)
  const program = await startProgram(request)
  return await new ProgramRun(request, program, log, source).outcome()
}

function notStarted(problem: string): Timeless {
  return {
    ending: 'not-started',
    exitCode: null,
    signal: null,
    problem,
    tail: '',
    lines: 0,
    otherLines: 0,
    warnings: [],
  }
}

class ProgramRun {
  readonly #request: ProgramRequest
  readonly #program: StartedProgram
  readonly #log: LogFile
  readonly #source: SourceFollower | null
  readonly #tail = new Tail()
  readonly #reading: LogReading
  readonly #watch: Watch
  readonly #polling: NodeJS.Timeout | null
  #nextPollAt = 0
  #otherLines = 0
  #ending: ProgramOutcome['ending'] = 'exited'
  #isHeard = true
  #problem: string | null = null
  #failure: { readonly error: unknown } | null = null

  constructor(request: ProgramRequest, program: StartedProgram, log: LogFile, source: SourceFollower | null) {
    this.#request = request
    this.#program = program
    this.#log = log
    this.#source = source
    this.#reading = new LogReading(request.parsing, request.limits.patternMs, {
      onEvents: (events) => this.#onEvents(events),
      onProblem: (problem) => this.#onProblem(problem),
      onRoom: () => this.#resume(),
      onFailure: (error) => this.#fail(error),
    })
    this.#watch = new Watch(
      request,
      () => this.#reading.isFull,
      (...why) => this.#stop(...why),
    )
    this.#listen(program.stdout, 0, request.stream !== 'stderr')
    this.#listen(program.stderr, 1, request.stream !== 'stdout')
    this.#polling = source && setInterval(() => this.#poll(), POLL_MS)
  }

  async outcome(): Promise<Timeless> {
    try {
      const { exitCode, signal, warning } = await this.#program.exited
      this.#watch.close()
      await this.#readSourceToItsEnd()
      const { lineCount, warnings } = await this.#reading.end()
      if (this.#failure) throw this.#failure.error
      const all = [...warnings, ...(warning === null ? [] : [warning]), ...(this.#source?.warnings ?? [])]
      const counts = { lines: lineCount, otherLines: this.#otherLines }
      const seen = { exitCode, signal, tail: this.#tail.text(), ...counts, warnings: all }
      return { ending: this.#ending, problem: this.#problem, ...seen }
    } finally {
      this.#watch.close()
      if (this.#polling) clearInterval(this.#polling)
      await this.#reading.stop()
    }
  }

  #listen(stream: Readable, number: 0 | 1, isRead: boolean): void {
    stream.on('error', () => stream.destroy())
    stream.on('data', (bytes: Buffer) => {
      this.#watch.sign()
      this.#tail.add(bytes)
      this.#log.add(bytes)
      if (!isRead) this.#otherLines += lineEndsIn(bytes)
      if (!isRead || !this.#isHeard) return
      // Rows that were written before a line was printed are to come before it.
      if (performance.now() >= this.#nextPollAt) this.#poll()
      this.#reading.feed(number, bytes)
      if (this.#reading.isFull) stream.pause()
    })
    if (this.#request.onOutput) eachLine(stream, this.#request.onOutput)
  }

  #poll(): boolean {
    const startedAt = performance.now()
    try {
      const feed: TakePart = (file, bytes, isStart) => this.#reading.feed(FIRST_FILE + file, bytes, isStart)
      const hasNews = this.#source?.poll(feed, () => !this.#reading.isFull) ?? false
      if (hasNews) this.#watch.sign()
      return hasNews
    } catch (error) {
      this.#fail(error)
      return false
    } finally {
      const endedAt = performance.now()
      this.#nextPollAt = endedAt + POLL_SHARE * (endedAt - startedAt)
    }
  }

  async #readSourceToItsEnd(): Promise<void> {
    if (this.#polling) clearInterval(this.#polling)
    this.#source?.finish()
    while (this.#isHeard && (this.#poll() || this.#reading.isFull)) await sleep(1)
  }

  #resume(): void {
    this.#program.stdout.resume()
    this.#program.stderr.resume()
  }

  #onEvents(events: readonly LogEvent[]): void {
    if (!this.#isHeard) return
    if (!this.#request.onEvents(events)) this.#stop('enough', null)
  }

  /** Says more than an idle or late program, which it may have caused. */
  #onProblem(problem: ReadProblem): void {
    if (this.#ending === 'idle' || this.#ending === 'timeout') this.#ending = 'exited'
    this.#stop(problem.ending, this.#describe(problem))
  }

  #stop(ending: ProgramOutcome['ending'], problem: string | null): void {
    if (this.#ending !== 'exited') return
    this.#ending = ending
    this.#problem = problem
    // What was printed in time still counts.
    if (ending !== 'idle' && ending !== 'timeout') this.#mute()
    this.#program.end()
  }

  #describe({ ending, text }: ReadProblem): string {
    return ending === 'unreadable' ? `cannot read ${cleanText(this.#request.sourcePath ?? '')}: ${text}` : text
  }

  #mute(): void {
    this.#isHeard = false
    this.#reading.mute()
  }

  #fail(error: unknown): void {
    this.#failure ??= { error }
    this.#stop('aborted', 'reading its log failed')
    this.#resume()
  }
}

function lineEndsIn(bytes: Buffer): number {
  let count = 0
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) count++
  return count
}
