import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { toJson } from '../../domain/json.ts'
import type { Result } from '../../domain/result.ts'
import { RUN_SCHEMA, type RunHeader } from '../../domain/run.ts'
import { writeFileAtomic } from '../../files/disk/atomic.ts'
import { makeFolderAtomic } from '../../files/disk/atomic-folder.ts'
import { ownIdentity } from '../../files/disk/process-identity.ts'
import { ulid } from '../../files/disk/ulid.ts'
import { ARTIFACTS_FOLDER } from './artifacts.ts'
import { ResultLines } from './result-lines.ts'

export const HEADER_FILE = 'run.json'
export const RESULTS_FILE = 'results.jsonl'
const HEARTBEAT_MS = 3000

export type NewRun = Pick<RunHeader, 'shard' | 'environment' | 'options' | 'plan'>
export type RunEnd = Pick<RunHeader, 'state' | 'summary' | 'problem'>

/** A run's folder while it is being written; readable by others at every moment. */
export class RunRecord {
  readonly folder: string
  #header: RunHeader
  readonly #results: ResultLines
  #writing: Promise<void> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined

  private constructor(folder: string, header: RunHeader) {
    this.folder = folder
    this.#header = header
    this.#results = new ResultLines(join(folder, RESULTS_FILE))
  }

  /** The folder appears under its name with all its parts. */
  static async create(runsFolder: string, run: NewRun, heartbeatMs = HEARTBEAT_MS): Promise<RunRecord> {
    const header = firstHeader(run)
    const folder = join(runsFolder, header.id)
    await makeFolderAtomic(folder, async (draft) => {
      await mkdir(join(draft, ARTIFACTS_FOLDER))
      await writeFile(join(draft, RESULTS_FILE), '')
      await writeFileAtomic(join(draft, HEADER_FILE), toJson(header, 1))
    })
    const record = new RunRecord(folder, header)
    record.#beat(heartbeatMs)
    return record
  }

  get header(): RunHeader {
    return this.#header
  }

  append(result: Result): void {
    this.#results.append(toJson(result))
  }

  /** The end is on the disk when this returns. */
  async finish(end: RunEnd): Promise<RunHeader> {
    clearTimeout(this.#timer)
    await this.#results.close()
    await this.#writing
    this.#header = { ...this.#header, ...end, heartbeatAt: new Date().toISOString() }
    await writeFileAtomic(join(this.folder, HEADER_FILE), toJson(this.#header, 1))
    return this.#header
  }

  /** Rarer where writing the header takes long, as with very long plans. */
  #beat(everyMs: number, delayMs = everyMs): void {
    this.#timer = setTimeout(() => {
      this.#writing = this.#writeHeartbeat().then((tookMs) => {
        if (this.#results.isOpen) this.#beat(everyMs, Math.max(everyMs, 50 * tookMs))
      })
    }, delayMs)
    this.#timer.unref()
  }

  /** A heartbeat that cannot be written is no reason to stop: results that cannot be written are. */
  async #writeHeartbeat(): Promise<number> {
    const startedMs = performance.now()
    this.#header = { ...this.#header, heartbeatAt: new Date().toISOString() }
    await writeFileAtomic(join(this.folder, HEADER_FILE), toJson(this.#header, 1)).catch(() => undefined)
    return performance.now() - startedMs
  }
}

function firstHeader(run: NewRun): RunHeader {
  const now = new Date().toISOString()
  return {
    schema: RUN_SCHEMA,
    id: ulid(),
    state: 'running',
    ...ownIdentity(),
    startedAt: now,
    heartbeatAt: now,
    ...run,
    summary: null,
  }
}
