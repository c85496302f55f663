import { type Dirent, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { cleanText } from '../../../domain/text.ts'
import type { LogSource } from '../config/contract.ts'
import { FollowedFile } from './followed-file.ts'

/** Runs of TensorBoard lie in folders of a folder. */
const DEEPEST = 4

/** `isStart`: the file is read from its beginning, for the first time or again. */
export type TakePart = (file: number, bytes: Uint8Array, isStart: boolean) => void

/** Follows the file that a program writes its metrics to, or all event files of a TensorBoard folder. */
export class SourceFollower {
  readonly #path: string
  readonly #kind: LogSource['kind']
  readonly #files = new Map<string, FollowedFile>()
  /** How many beginnings were told, by the number of the file. */
  readonly #told: number[] = []
  #hasNews = false

  /** Made before the program starts, so that it knows what was there before. */
  constructor(path: string, kind: LogSource['kind']) {
    this.#path = path
    this.#kind = kind
    this.#look(false)
  }

  /** Gives what is new, by the number of the file; true where there was any. */
  poll(take: TakePart, hasRoom: () => boolean): boolean {
    this.#look(true)
    let hasNews = false
    for (const [number, file] of [...this.#files.values()].entries()) {
      const isNew = file.read((bytes) => this.#pass(number, file, bytes, take), hasRoom)
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
    if (!this.#hasNews) {
      const isThere = statSync(this.#path, { throwIfNoEntry: false }) !== undefined
      return [`the program wrote ${isThere ? 'nothing to' : 'no'} ${cleanText(this.#path)}`]
    }
    const added = [...this.#files.values()].filter((file) => file.isAddedTo)
    return added.map(({ path }) => {
      return `${cleanText(path)} existed before the program started, so only what was added counts. Give each run its own`
    })
  }

  #look(isRunning: boolean): void {
    for (const path of this.#paths()) {
      if (!this.#files.has(path)) this.#files.set(path, new FollowedFile(path, isRunning))
    }
  }

  #paths(): readonly string[] {
    const isFolder = statSync(this.#path, { throwIfNoEntry: false })?.isDirectory() ?? false
    if (this.#kind !== 'tensorboard' || !isFolder) return [this.#path]
    return eventFiles(this.#path, DEEPEST).sort()
  }

  #pass(number: number, file: FollowedFile, bytes: Uint8Array, take: TakePart): void {
    const isStart = this.#told[number] !== file.beginnings
    this.#told[number] = file.beginnings
    const columns = isStart && this.#kind === 'csv' ? file.firstLine() : null
    if (columns !== null) take(number, columns, true)
    take(number, bytes, isStart && columns === null)
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
