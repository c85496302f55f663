import { FormatError } from '../../domain/errors.ts'
import { readRange } from '../disk/read-range.ts'

/** One element of a list that fills a file. */
export interface JsonItem {
  readonly offset: number
  readonly bytes: Uint8Array
}

const LARGEST_ITEM_BYTES = 2 ** 28
const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c]
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]

/** The elements of a JSON file that is one list, one after the other: such files may be larger than any string. */
export async function* jsonItems(path: string, byteLength: number): AsyncGenerator<JsonItem> {
  const splitter = new ItemSplitter(path)
  for await (const chunk of readRange(path, 0, byteLength)) yield* splitter.split(chunk)
  splitter.end()
}

class ItemSplitter {
  readonly #path: string
  #at = 0
  #depth = 0
  #isOver = false
  #inString = false
  #escaped = false
  /** Where the current element began; −1 between elements. */
  #start = -1
  #parts: Uint8Array[] = []

  constructor(path: string) {
    this.#path = path
  }

  *split(bytes: Uint8Array): Generator<JsonItem> {
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const base = this.#at
    for (let i = 0; i < chunk.length; i++) {
      if (this.#inString) i = this.#passString(chunk, i)
      else {
        if (this.#endsItem(chunk[i]!)) yield this.#take(chunk, base, base + i)
        this.#pass(chunk[i]!, base + i)
      }
    }
    this.#at = base + chunk.length
    if (this.#start >= 0) this.#keep(chunk.subarray(Math.max(0, this.#start - base)))
  }

  end(): void {
    if (!this.#isOver) throw this.#error('ends before its list does; the file is incomplete, copy it again')
  }

  /** The place of the closing quote, or the end of the chunk. These files are mostly long strings. */
  #passString(chunk: Buffer, from: number): number {
    let start = this.#escaped ? from + 1 : from
    for (;;) {
      const quote = chunk.indexOf(QUOTE, start)
      const end = quote < 0 ? chunk.length : quote
      this.#escaped = isEscaped(chunk, start, end)
      this.#inString = quote < 0
      if (quote < 0 || !this.#escaped) return end
      start = quote + 1
    }
  }

  #endsItem(byte: number): boolean {
    return this.#depth === 1 && this.#start >= 0 && (byte === COMMA || byte === CLOSE_LIST)
  }

  #pass(byte: number, at: number): void {
    if (isBlank(byte) || (this.#depth === 0 && at < 3 && isByteOrderMark(byte))) return
    if (this.#isOver) throw this.#error('has extra text after its list')
    if (this.#depth === 0 && byte !== OPEN_LIST) throw this.#error('is not a JSON list: it does not begin with [')
    if (byte === COMMA && this.#depth === 1) return
    if (this.#depth === 1 && this.#start < 0 && byte !== CLOSE_LIST) this.#start = at
    this.#count(byte)
  }

  #count(byte: number): void {
    if (byte === QUOTE) this.#inString = true
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) this.#depth++
    else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) this.#depth--
    this.#isOver = this.#depth === 0
  }

  #take(chunk: Buffer, base: number, end: number): JsonItem {
    const offset = this.#start
    this.#keep(chunk.subarray(Math.max(0, offset - base), end - base))
    const bytes = this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts)
    this.#parts = []
    this.#start = -1
    return { offset, bytes }
  }

  #keep(part: Uint8Array): void {
    this.#parts.push(part)
    const held = this.#parts.reduce((sum, { length }) => sum + length, 0)
    if (held > LARGEST_ITEM_BYTES) throw this.#error(`holds an element of more than ${LARGEST_ITEM_BYTES} bytes`)
  }

  #error(problem: string): FormatError {
    return new FormatError('json', `${this.#path} ${problem}`)
  }
}

/** An odd number of backslashes before it. */
function isEscaped(chunk: Buffer, start: number, end: number): boolean {
  let at = end
  while (at > start && chunk[at - 1] === BACKSLASH) at--
  return (end - at) % 2 === 1
}

function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

function isByteOrderMark(byte: number): boolean {
  return byte === 0xef || byte === 0xbb || byte === 0xbf
}
