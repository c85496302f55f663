import { type FileHandle, open, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { LogEvent } from '../../domain/convergence.ts'
import { cleanText } from '../../domain/text.ts'
import type { Parsing } from './contract.ts'
import { type FileReader, fileReader } from './file-reader.ts'
import { StepMerger } from './step-merger.ts'

/** Reads the files that a program writes while it runs. Not to be called again before the last call is done. */
export interface SourceFollower {
  /** What was written since the last time. */
  poll(): Promise<LogEvent[]>
  /** The rest, once the program has ended. */
  end(): Promise<LogEvent[]>
  readonly warnings: readonly string[]
}

const BLOCK_BYTES = 2 ** 20
const PRINT_BYTES = 4096

/** To be made before the program starts: what is there by then is from an earlier run and is not read. */
export async function followSource(parsing: Parsing, path: string): Promise<SourceFollower> {
  const follower = new Follower(parsing, path)
  await follower.rememberOld()
  return follower
}

class Follower implements SourceFollower {
  readonly #parsing: Parsing
  readonly #path: string
  readonly #steps = new StepMerger()
  readonly #files = new Map<string, FollowedFile>()

  constructor(parsing: Parsing, path: string) {
    this.#parsing = parsing
    this.#path = path
  }

  async rememberOld(): Promise<void> {
    for (const path of await this.#paths()) await this.#file(path).skipOld()
  }

  async poll(): Promise<LogEvent[]> {
    const events: LogEvent[] = []
    for (const path of await this.#paths()) events.push(...(await this.#file(path).read()))
    return events
  }

  async end(): Promise<LogEvent[]> {
    const events = await this.poll()
    for (const file of this.#files.values()) events.push(...file.end())
    return [...events, ...this.#steps.flush()]
  }

  get warnings(): readonly string[] {
    const files = [...this.#files.values()]
    const shown = cleanText(this.#path)
    if (files.every((file) => !file.hasRead)) return [`the program wrote nothing to ${shown}`]
    return [...new Set(files.filter((file) => file.hasRead).flatMap((file) => file.warnings))]
  }

  /** A folder of TensorBoard has a file per start of the program, with the time in its name. */
  async #paths(): Promise<string[]> {
    const found = await stat(this.#path).catch(() => null)
    if (found?.isFile()) return [this.#path]
    if (!found?.isDirectory() || this.#parsing.source.kind !== 'tensorboard') return []
    const names = (await readdir(this.#path)).filter((name) => name.includes('tfevents'))
    return names.sort().map((name) => join(this.#path, name))
  }

  #file(path: string): FollowedFile {
    const known = this.#files.get(path)
    if (known) return known
    const isTable = this.#parsing.source.kind === 'csv'
    const file = new FollowedFile(path, isTable, () => fileReader(this.#parsing, this.#steps))
    this.#files.set(path, file)
    return file
  }
}

/** What tells a file that was written anew from one that grew. */
interface Print {
  readonly size: number
  readonly modifiedMs: number
  readonly head: Buffer
  readonly tail: Buffer
}

class FollowedFile {
  readonly #path: string
  readonly #create: () => FileReader
  /** It stands in the part that is otherwise not read again. */
  readonly #hasHeader: boolean
  #reader: FileReader
  #print: Print | null = null
  #oldBytes = 0
  hasRead = false

  constructor(path: string, hasHeader: boolean, create: () => FileReader) {
    this.#path = path
    this.#hasHeader = hasHeader
    this.#create = create
    this.#reader = create()
  }

  async skipOld(): Promise<void> {
    await this.#opened(async (handle) => {
      this.#print = await printOf(handle, (await handle.stat()).size)
      this.#oldBytes = this.#print.size
    })
  }

  async read(): Promise<LogEvent[]> {
    const events: LogEvent[] = []
    await this.#opened(async (handle) => {
      if (await this.#isRewritten(handle)) this.#restart()
      const { size } = await handle.stat()
      for (let at = this.#print?.size ?? 0; at < size; ) {
        const block = Buffer.alloc(Math.min(BLOCK_BYTES, size - at))
        const { bytesRead } = await handle.read(block, 0, block.length, at)
        if (bytesRead === 0) break
        at += bytesRead
        await this.#feed(block.subarray(0, bytesRead), handle, events)
      }
      this.#print = await printOf(handle, size)
    })
    return events
  }

  end(): LogEvent[] {
    return this.hasRead ? this.#reader.end() : []
  }

  get warnings(): readonly string[] {
    const shown = cleanText(this.#path)
    const text = `${shown} was there before the program started; only what was added to it counts. Give each run its own`
    return [...(this.#oldBytes > 0 ? [text] : []), ...this.#reader.warnings]
  }

  async #feed(block: Buffer, handle: FileHandle, events: LogEvent[]): Promise<void> {
    if (!this.hasRead && this.#oldBytes > 0 && this.#hasHeader) this.#reader.feed(await firstLine(handle))
    this.hasRead = true
    events.push(...this.#reader.feed(block))
  }

  #restart(): void {
    this.#reader = this.#create()
    this.#print = null
    this.#oldBytes = 0
  }

  async #isRewritten(handle: FileHandle): Promise<boolean> {
    if (this.#print === null) return false
    const { size, mtimeMs } = await handle.stat()
    if (size < this.#print.size) return true
    if (size === this.#print.size) return mtimeMs !== this.#print.modifiedMs && !this.hasRead
    const now = await printOf(handle, this.#print.size)
    return !now.head.equals(this.#print.head) || !now.tail.equals(this.#print.tail)
  }

  async #opened(use: (handle: FileHandle) => Promise<void>): Promise<void> {
    const handle = await open(this.#path, 'r').catch(() => null)
    if (handle === null) return
    try {
      await use(handle)
    } finally {
      await handle.close()
    }
  }
}

async function printOf(handle: FileHandle, size: number): Promise<Print> {
  const length = Math.min(size, PRINT_BYTES)
  const [head, tail] = [Buffer.alloc(length), Buffer.alloc(length)]
  await handle.read(head, 0, length, 0)
  await handle.read(tail, 0, length, size - length)
  return { size, modifiedMs: (await handle.stat()).mtimeMs, head, tail }
}

async function firstLine(handle: FileHandle): Promise<Buffer> {
  const head = Buffer.alloc(BLOCK_BYTES)
  const { bytesRead } = await handle.read(head, 0, head.length, 0)
  return head.subarray(0, head.subarray(0, bytesRead).indexOf('\n') + 1)
}
