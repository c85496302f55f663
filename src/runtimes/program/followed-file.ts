import { closeSync, fstatSync, openSync, readSync, type Stats, statSync } from 'node:fs'

const PART_BYTES = 64 * 1024
const MARK_BYTES = 4096

/** What a file held before the program began. */
interface Earlier {
  readonly size: number
  readonly inode: number
  readonly changedMs: number
  /** Its last bytes, by which a file that was written anew is told from one that was added to. */
  readonly mark: Buffer
}

/** A file that a program writes, read as it grows. What an earlier run left in it is not taken for news. */
export class FollowedFile {
  readonly path: string
  /** It was begun anew so often; then what follows is read from the beginning. */
  beginnings = 0
  #earlier: Earlier | null
  #inode: number | null
  #at: number

  /** `isNew`: it was not there when the program began. */
  constructor(path: string, isNew = false) {
    this.path = path
    this.#earlier = isNew ? null : earlierOf(path)
    this.#inode = this.#earlier?.inode ?? null
    this.#at = this.#earlier?.size ?? 0
  }

  /** Gives all that is new, or as much as is taken; true where there was any. */
  read(take: (bytes: Uint8Array) => void, hasRoom: () => boolean): boolean {
    const file = open(this.path)
    if (file === null) return false
    try {
      const stats = fstatSync(file)
      if (this.#isAnew(file, stats)) this.#begin(stats)
      return this.#readOn(file, take, hasRoom)
    } finally {
      closeSync(file)
    }
  }

  /** The first line where what is read comes after what was there before, and so without it. */
  firstLine(): Uint8Array | null {
    const file = this.#earlier !== null && this.#earlier.size > 0 ? open(this.path) : null
    if (file === null) return null
    try {
      const start = bytesAt(file, 0, PART_BYTES)
      return start.subarray(0, start.indexOf('\n') + 1)
    } finally {
      closeSync(file)
    }
  }

  /** The program has ended: a file of the same length as before that was written to is a new one. */
  finish(): void {
    const now = statSync(this.path, { throwIfNoEntry: false })
    const earlier = this.#earlier
    if (!now || !earlier || now.size !== earlier.size || this.#at !== earlier.size) return
    if (now.mtimeMs !== earlier.changedMs) this.#begin(now)
  }

  #isAnew(file: number, stats: Stats): boolean {
    if (stats.size < this.#at || (this.#inode !== null && stats.ino !== this.#inode)) return true
    const { mark } = this.#earlier ?? {}
    if (mark === undefined || stats.size === this.#at) return false
    return !bytesAt(file, this.#earlier!.size - mark.length, mark.length).equals(mark)
  }

  #begin(stats: Stats): void {
    this.#at = 0
    this.#inode = stats.ino
    this.#earlier = null
    this.beginnings++
  }

  #readOn(file: number, take: (bytes: Uint8Array) => void, hasRoom: () => boolean): boolean {
    const before = this.#at
    while (hasRoom()) {
      const bytes = bytesAt(file, this.#at, PART_BYTES)
      if (bytes.length === 0) break
      this.#at += bytes.length
      take(bytes)
    }
    return this.#at > before
  }
}

function earlierOf(path: string): Earlier | null {
  const file = open(path)
  if (file === null) return null
  try {
    const { size, ino, mtimeMs } = fstatSync(file)
    const markLength = Math.min(size, MARK_BYTES)
    return { size, inode: ino, changedMs: mtimeMs, mark: bytesAt(file, size - markLength, markLength) }
  } finally {
    closeSync(file)
  }
}

function open(path: string): number | null {
  try {
    return statSync(path).isFile() ? openSync(path, 'r') : null
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

function bytesAt(file: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length)
  return bytes.subarray(0, readSync(file, bytes, 0, length, position))
}
