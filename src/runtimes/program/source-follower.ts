import { type Dirent, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { cleanText } from '../../domain/text.ts'
import type { LogSource } from '../../files/convergence/contract.ts'
import { FollowedFile } from './followed-file.ts'

/** Runs of TensorBoard lie in folders of a folder. */
const DEEPEST = 4

type Take = (file: number, bytes: Uint8Array) => void

/** Follows the file that a program writes its metrics to, or all event files of a TensorBoard folder. */
export class SourceFollower {
  readonly #path: string
  readonly #kind: LogSource['kind']
  readonly #files = new Map<string, FollowedFile>()
  readonly #numbers = new Map<string, number>()
  #hasNews = false

  /** Made before the program starts, so that it knows what was there before. */
  constructor(path: string, kind: LogSource['kind']) {
    this.#path = path
    this.#kind = kind
    this.#look(false)
  }

  /** Gives what is new, by the number of the file; true where there was any. */
  poll(take: Take, hasRoom: () => boolean): boolean {
    this.#look(true)
    let hasNews = false
    for (const file of this.#files.values()) {
      const isNew = file.read((bytes) => take(this.#numberOf(file, take), bytes), hasRoom)
      hasNews ||= isNew
    }
    this.#hasNews ||= hasNews
    return hasNews
  }

  /** The program has ended. */
  finish(): void {
    for (const file of this.#files.values()) file.finish()
  }

  get warnings(): readonly string[] {
    if (this.#hasNews) return []
    const shown = cleanText(this.#path)
    const isThere = statSync(this.#path, { throwIfNoEntry: false }) !== undefined
    return [isThere ? `the program wrote nothing to ${shown}` : `the program wrote no ${shown}`]
  }

  #look(isRunning: boolean): void {
    for (const path of this.#paths()) {
      if (!this.#files.has(path)) this.#files.set(path, new FollowedFile(path, isRunning))
    }
  }

  #paths(): readonly string[] {
    const isFolder = statSync(this.#path, { throwIfNoEntry: false })?.isDirectory() ?? false
    if (this.#kind !== 'tensorboard' || !isFolder) return [this.#path]
    return eventFiles(this.#path, DEEPEST)
  }

  /** A file that was begun anew is another one to whoever reads it. */
  #numberOf(file: FollowedFile, take: Take): number {
    const key = `${file.beginnings} ${file.path}`
    const known = this.#numbers.get(key)
    if (known !== undefined) return known
    const number = this.#numbers.size
    this.#numbers.set(key, number)
    const columns = this.#kind === 'csv' ? file.firstLine() : null
    if (columns !== null) take(number, columns)
    return number
  }
}

function eventFiles(folder: string, depth: number): string[] {
  const entries = entriesOf(folder)
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return depth > 0 ? eventFiles(path, depth - 1) : []
    return entry.isFile() && entry.name.includes('tfevents') ? [path] : []
  })
}

/** Programs remove folders while we look. */
function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
