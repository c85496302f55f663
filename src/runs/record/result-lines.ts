import { closeSync, fstatSync, fsync, fsyncSync, ftruncateSync, openSync, writeSync } from 'node:fs'
import { promisify } from 'node:util'
import { UsageError } from '../../domain/errors.ts'
import { explainWriteError } from '../../files/disk/atomic.ts'
import { describeFullDisk, fullDiskCode } from '../disk-errors.ts'

/** A power cut may cost as much. */
const SYNC_MS = 1000

/** A run's file of results, a line each; what was written is on the disk a second later. */
export class ResultLines {
  readonly #path: string
  readonly #syncMs: number
  #descriptor: number
  #timer: NodeJS.Timeout | undefined
  #syncing: Promise<void> = Promise.resolve()
  /** Why no more lines are taken. The system tells of a failed sync once; the next one would succeed without the lines. */
  #problem: unknown

  constructor(path: string, syncMs = SYNC_MS) {
    this.#path = path
    this.#syncMs = syncMs
    this.#descriptor = openSync(path, 'a')
  }

  get isOpen(): boolean {
    return this.#descriptor >= 0
  }

  /** One write for the whole line; a line that does not fit is taken back. */
  append(text: string): void {
    this.#explained(() => {
      if (this.#problem !== undefined) throw this.#problem
      const { size } = fstatSync(this.#descriptor)
      try {
        writeAll(this.#descriptor, new TextEncoder().encode(`${text}\n`))
      } catch (error) {
        this.#takeBack(size, error)
        throw error
      }
    })
    this.#timer ??= setTimeout(() => this.#sync(), this.#syncMs).unref()
  }

  /** Where a part of a line has to stay, no line may follow it. */
  #takeBack(size: number, problem: unknown): void {
    try {
      ftruncateSync(this.#descriptor, size)
    } catch {
      this.#problem = problem
    }
  }

  /** All lines are on the disk when this returns. */
  async close(): Promise<void> {
    clearTimeout(this.#timer)
    await this.#syncing
    const descriptor = this.#descriptor
    this.#descriptor = -1
    if (descriptor < 0) return
    this.#explained(() => {
      try {
        fsyncSync(descriptor)
      } finally {
        closeSync(descriptor)
      }
      if (this.#problem !== undefined) throw this.#problem
    })
  }

  #sync(): void {
    this.#timer = undefined
    this.#syncing = promisify(fsync)(this.#descriptor).catch((error: unknown) => {
      this.#problem = error
    })
  }

  #explained(work: () => void): void {
    try {
      work()
    } catch (error) {
      throw unwritable(error, this.#path)
    }
  }
}

/** A short write does not say why; trying to write the rest does. */
function writeAll(descriptor: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(descriptor, bytes.subarray(done))
}

function unwritable(error: unknown, path: string): unknown {
  const full = fullDiskCode(error)
  if (!full) return explainWriteError(error, path)
  return new UsageError(full, describeFullDisk(full, `writing ${path}`), { cause: error })
}
