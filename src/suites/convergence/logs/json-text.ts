type JsonText = string | null | JsonText[] | { [key: string]: JsonText }

const MAX_DEPTH = 32
const NUMBER = /^(?:-?(?:(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|Infinity)|NaN|true|false)$/
/** Made once: lines of another kind are many, and a stack for each would take longer than reading it. */
const NOT_JSON = new SyntaxError('not JSON')

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const OPEN = 0x7b
const CLOSE = 0x7d

/** A JSON object in which numbers are the texts that stand there, NaN and infinities too; null where it is none. */
export function parseJsonText(text: string): { [key: string]: JsonText } | null {
  const reader = new Reader(text)
  try {
    return reader.whole()
  } catch (error) {
    if (error === NOT_JSON) return null
    throw error
  }
}

class Reader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  whole(): { [key: string]: JsonText } {
    if (this.#next() !== OPEN) throw NOT_JSON
    const object = this.#object(0)
    this.#next()
    if (this.#at < this.#text.length) throw NOT_JSON
    return object
  }

  #value(depth: number): JsonText {
    if (depth > MAX_DEPTH) throw NOT_JSON
    const first = this.#next()
    if (first === QUOTE) return this.#string()
    if (first === OPEN) return this.#object(depth)
    return first === OPEN_LIST ? this.#list(depth) : this.#word()
  }

  #object(depth: number): { [key: string]: JsonText } {
    const object: { [key: string]: JsonText } = {}
    this.#at++
    if (this.#skip(CLOSE)) return object
    do {
      if (this.#next() !== QUOTE) throw NOT_JSON
      const key = this.#string()
      if (!this.#skip(COLON)) throw NOT_JSON
      const value = this.#value(depth + 1)
      if (key !== '__proto__') object[key] = value
    } while (this.#skip(COMMA))
    if (!this.#skip(CLOSE)) throw NOT_JSON
    return object
  }

  #list(depth: number): JsonText[] {
    const list: JsonText[] = []
    this.#at++
    if (this.#skip(CLOSE_LIST)) return list
    do list.push(this.#value(depth + 1))
    while (this.#skip(COMMA))
    if (!this.#skip(CLOSE_LIST)) throw NOT_JSON
    return list
  }

  #string(): string {
    const start = this.#at
    let end = this.#text.indexOf('"', start + 1)
    const hasEscapes = this.#text.slice(start, end).includes('\\')
    while (end > 0 && isEscaped(this.#text, end)) end = this.#text.indexOf('"', end + 1)
    if (end < 0) throw NOT_JSON
    this.#at = end + 1
    return hasEscapes ? unescaped(this.#text.slice(start, end + 1)) : this.#text.slice(start + 1, end)
  }

  /** A number, or a word that stands for itself. */
  #word(): string | null {
    const start = this.#at
    while (isWordPart(this.#text.charCodeAt(this.#at))) this.#at++
    const word = this.#text.slice(start, this.#at)
    if (word === 'null') return null
    if (!NUMBER.test(word)) throw NOT_JSON
    return word
  }

  #skip(code: number): boolean {
    const isThere = this.#next() === code
    if (isThere) this.#at++
    return isThere
  }

  /** The next character that is no blank. */
  #next(): number {
    let code = this.#text.charCodeAt(this.#at)
    while (code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d) code = this.#text.charCodeAt(++this.#at)
    return code
  }
}

function isWordPart(code: number): boolean {
  const isDigit = code >= 0x30 && code <= 0x39
  const isLetter = (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a)
  return isDigit || isLetter || code === 0x2b || code === 0x2d || code === 0x2e
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0
  while (text.charCodeAt(at - 1 - backslashes) === 0x5c) backslashes++
  return backslashes % 2 === 1
}

function unescaped(literal: string): string {
  try {
    return JSON.parse(literal) as string
  } catch {
    throw NOT_JSON
  }
}
