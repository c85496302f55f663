import { closeSync, fstatSync, readSync, type Stats, statSync } from 'node:fs'
import { openRegularSync } from '../../../files/disk/regular-file.ts'

const PART_BYTES = 64 * 1024
const MARK_BYTES = 4096

/** What a file held up to where it was read; tells a rewritten file from one that grew. */
interface Mark {
  readonly head: Buffer
  readonly tail: Buffer
}

/** A file that a program writes, read as it grows. What an earlier run left in it is not taken for news. */
export class FollowedFile {
  readonly path: string
  /** How often the file was rewritten; it is then read from the beginning. */
  beginnings = 0
  #earlier: Stats | null = null
  #mark: Mark | null = null
  #at = 0

  /** `isNew`: it was not there when the program began. */
  constructor(path: string, isNew = false) {
    this.path = path
    if (!isNew) opened(path, (file) => this.#skip(file))
  }

  /** What is read comes after what an earlier run left. */
  get isAddedTo(): boolean {
    return this.#earlier !== null && this.#earlier.size > 0 && this.#at > this.#earlier.size
  }

  /** Gives all that is new, or as much as is taken; true where there was any. */
  read(take: (bytes: Uint8Array) => void, hasRoom: () => boolean): boolean {
    const [at, { beginnings }] = [this.#at, this]
    opened(this.path, (file) => {
      if (this.#isAnew(file, fstatSync(file))) this.#begin()
      this.#readOn(file, take, hasRoom)
    })
    return this.#at !== at || this.beginnings !== beginnings
  }

  /** The first line where what is read comes after it. */
  firstLine(): Uint8Array | null {
    let line: Uint8Array | null = null
    if (!this.isAddedTo) return line
    opened(this.path, (file) => {
      const start = bytesAt(file, 0, PART_BYTES)
      line = start.subarray(0, start.indexOf('\n') + 1)
    })
    return line
  }

  /** The program has ended: a file of the same length as before that was written to is a new one. */
  finish(): void {
    const now = statSync(this.path, { throwIfNoEntry: false })
    const earlier = this.#earlier
    if (!now || !earlier || now.size !== earlier.size || this.#at !== earlier.size) return
    if (now.mtimeMs !== earlier.mtimeMs) this.#begin()
  }

  #skip(file: number): void {
    this.#earlier = fstatSync(file)
    this.#at = this.#earlier.size
    this.#mark = markAt(file, this.#at)
  }

  #isAnew(file: number, { size, ino }: Stats): boolean {
    if (size < this.#at || (this.#earlier !== null && this.#earlier.ino !== ino)) return true
    if (this.#mark === null || size === this.#at) return false
    const { head, tail } = markAt(file, this.#at)
    return !head.equals(this.#mark.head) || !tail.equals(this.#mark.tail)
  }

  #begin(): void {
    this.#at = 0
    this.#mark = null
    this.#earlier = null
    this.beginnings++
  }

  #readOn(file: number, take: (bytes: Uint8Array) => void, hasRoom: () => boolean): void {
    const before = this.#at
    while (hasRoom()) {
      const bytes = bytesAt(file, this.#at, PART_BYTES)
      if (bytes.length === 0) break
      this.#at += bytes.length
      take(bytes)
    }
    if (this.#at > before) this.#mark = markAt(file, this.#at)
  }
}

/** A file that is not there yet, or no longer, has nothing to read. */
function opened(path: string, use: (file: number) => void): void {
  const file = openFile(path)
  if (file === null) return
  try {
    use(file)
  } finally {
    closeSync(file)
  }
}

function openFile(path: string): number | null {
  try {
    return openRegularSync(path).descriptor
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'ENOENT' || code === 'not-a-file') return null
    throw error
  }
}

function markAt(file: number, end: number): Mark {
  const length = Math.min(end, MARK_BYTES)
  return { head: bytesAt(file, 0, length), tail: bytesAt(file, end - length, length) }
}

function bytesAt(file: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length)
  return bytes.subarray(0, readSync(file, bytes, 0, length, position))
}
