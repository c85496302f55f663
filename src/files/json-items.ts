import { FormatError } from '../domain/errors.ts'
import { readRange } from './read-range.ts'

/** One element of a list that is a whole file. */
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

  *split(chunk: Uint8Array): Generator<JsonItem> {
    const base = this.#at
    for (let i = 0; i < chunk.length; i++) {
      if (this.#inString) this.#passString(chunk[i]!)
      else if (this.#endsItem(chunk[i]!)) {
        yield this.#take(chunk, base, base + i)
        this.#pass(chunk[i]!, base + i)
      } else this.#pass(chunk[i]!, base + i)
    }
    this.#at = base + chunk.length
    if (this.#start >= 0) this.#keep(chunk.slice(Math.max(0, this.#start - base)))
  }

  end(): void {
    if (!this.#isOver) throw this.#error('ends before its list does; copy it again, it is not whole')
  }

  #passString(byte: number): void {
    if (this.#escaped) this.#escaped = false
    else if (byte === BACKSLASH) this.#escaped = true
    else if (byte === QUOTE) this.#inString = false
  }

  #endsItem(byte: number): boolean {
    return this.#depth === 1 && this.#start >= 0 && (byte === COMMA || byte === CLOSE_LIST)
  }

  #pass(byte: number, at: number): void {
    if (isBlank(byte) || (this.#depth === 0 && at < 3 && isByteOrderMark(byte))) return
    if (this.#isOver) throw this.#error('has something after its list')
    if (this.#depth === 0 && byte !== OPEN_LIST) throw this.#error('is no JSON list: it does not begin with [')
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

  #take(chunk: Uint8Array, base: number, end: number): JsonItem {
    const offset = this.#start
    this.#keep(chunk.slice(Math.max(0, offset - base), end - base))
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

function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

function isByteOrderMark(byte: number): boolean {
  return byte === 0xef || byte === 0xbb || byte === 0xbf
}
