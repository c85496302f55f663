import { closeSync, fstatSync, fsyncSync, ftruncateSync, openSync, writeSync } from 'node:fs'
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { UsageError } from '../domain/errors.ts'
import { toJson } from '../domain/json.ts'
import type { Result } from '../domain/result.ts'
import { RUN_SCHEMA, type RunHeader } from '../domain/run.ts'
import { explainWriteError, writeFileAtomic } from '../files/atomic.ts'
import { ARTIFACTS_FOLDER } from './artifacts.ts'
import { describeFullDisk, fullDiskCode } from './disk-errors.ts'
import { bootId, ownedName, ownerOf } from './process-identity.ts'
import { ulid } from './ulid.ts'

export const HEADER_FILE = 'run.json'
export const RESULTS_FILE = 'results.jsonl'
const UNBORN = '.new-'
const HEARTBEAT_MS = 3000

export type NewRun = Pick<RunHeader, 'shard' | 'environment' | 'options' | 'plan'>
export type RunEnd = Pick<RunHeader, 'state' | 'summary' | 'problem'>

/** A run's folder while it is being written; readable by others at every moment. */
export class RunRecord {
  readonly folder: string
  #header: RunHeader
  #results: number
  #writing: Promise<void> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined

  private constructor(folder: string, header: RunHeader) {
    this.folder = folder
    this.#header = header
    this.#results = openSync(join(folder, RESULTS_FILE), 'a')
  }

  /** The folder appears under its name with all its parts. */
  static async create(runsFolder: string, run: NewRun, heartbeatMs = HEARTBEAT_MS): Promise<RunRecord> {
    const header = firstHeader(run)
    const folder = join(runsFolder, header.id)
    const unborn = join(runsFolder, `${UNBORN}${ownedName()}`)
    try {
      await mkdir(join(unborn, ARTIFACTS_FOLDER), { recursive: true })
      await writeFile(join(unborn, RESULTS_FILE), '')
      await writeFileAtomic(join(unborn, HEADER_FILE), toJson(header, 1))
      await rename(unborn, folder)
      await removeUnborn(runsFolder)
    } catch (error) {
      throw explainWriteError(error, folder)
    }
    const record = new RunRecord(folder, header)
    record.#beat(heartbeatMs)
    return record
  }

  get header(): RunHeader {
    return this.#header
  }

  /** One write for the whole line; a line that does not fit is taken back. */
  append(result: Result): void {
    const line = new TextEncoder().encode(`${toJson(result)}\n`)
    const { size } = fstatSync(this.#results)
    try {
      writeAll(this.#results, line)
    } catch (error) {
      ftruncateSync(this.#results, size)
      throw unwritable(error, join(this.folder, RESULTS_FILE))
    }
  }

  /** The end is on the disk when this returns. */
  async finish(end: RunEnd): Promise<RunHeader> {
    this.#closeResults()
    clearTimeout(this.#timer)
    await this.#writing
    this.#header = { ...this.#header, ...end, heartbeatAt: new Date().toISOString() }
    await writeFileAtomic(join(this.folder, HEADER_FILE), toJson(this.#header, 1))
    return this.#header
  }

  #closeResults(): void {
    const descriptor = this.#results
    this.#results = -1
    if (descriptor < 0) return
    fsyncSync(descriptor)
    closeSync(descriptor)
  }

  /** Rarer where writing the header takes long, as with very long plans. */
  #beat(everyMs: number, delayMs = everyMs): void {
    this.#timer = setTimeout(() => {
      this.#writing = this.#writeHeartbeat().then((tookMs) => {
        if (this.#results >= 0) this.#beat(everyMs, Math.max(everyMs, 50 * tookMs))
      })
    }, delayMs)
    this.#timer.unref()
  }

  /** A heartbeat that cannot be written is no reason to stop: results that cannot be written are. */
  async #writeHeartbeat(): Promise<number> {
    const startedMs = performance.now()
    this.#header = { ...this.#header, heartbeatAt: new Date().toISOString() }
    const path = join(this.folder, HEADER_FILE)
    await writeFile(`${path}.tmp`, toJson(this.#header, 1))
      .then(() => rename(`${path}.tmp`, path))
      .catch(() => rm(`${path}.tmp`, { force: true }))
    return performance.now() - startedMs
  }
}

function firstHeader(run: NewRun): RunHeader {
  const now = new Date().toISOString()
  return {
    schema: RUN_SCHEMA,
    id: ulid(),
    state: 'running',
    pid: process.pid,
    bootId: bootId(),
    startedAt: now,
    heartbeatAt: now,
    ...run,
    summary: null,
  }
}

/** A short write does not say why; trying to write the rest does. */
function writeAll(descriptor: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(descriptor, bytes.subarray(done))
}

function unwritable(error: unknown, path: string): unknown {
  const full = fullDiskCode(error)
  return full ? new UsageError(full, describeFullDisk(full, `writing ${path}`), { cause: error }) : error
}

async function removeUnborn(runsFolder: string): Promise<void> {
  for (const name of await readdir(runsFolder)) {
    const path = join(runsFolder, name)
    const owner = name.startsWith(UNBORN) ? ownerOf(name.slice(UNBORN.length), path) : null
    if (owner && !owner.mayLive) await rm(path, { recursive: true, force: true })
  }
}
