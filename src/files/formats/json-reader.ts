export type JsonValue<Scalar> = string | Scalar | JsonValue<Scalar>[] | Map<string, JsonValue<Scalar>>

/** What one reader of JSON takes and another does not. */
export interface JsonDialect<Scalar> {
  /** Matches numbers, and words that stand for themselves; sticky. */
  readonly scalar: RegExp
  readScalar(text: string): Scalar
  /** Refuses control characters in strings, and repeated keys, of which the last counts otherwise. */
  readonly isStrict: boolean
  error(problem: string, at: number): Error
}

const MAX_DEPTH = 32
const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a]
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]

/** Reads untrusted JSON in linear time, to a limited depth; objects become Maps. */
export function readJson<Scalar>(text: string, dialect: JsonDialect<Scalar>): JsonValue<Scalar> {
  return new Reader(text, dialect).whole()
}

class Reader<Scalar> {
  readonly #text: string
  readonly #dialect: JsonDialect<Scalar>
  #at = 0

  constructor(text: string, dialect: JsonDialect<Scalar>) {
    this.#text = text
    this.#dialect = dialect
  }

  whole(): JsonValue<Scalar> {
    const value = this.#value(0)
    this.#next()
    if (this.#at < this.#text.length) throw this.#error('has extra text after its end')
    return value
  }

  #value(depth: number): JsonValue<Scalar> {
    if (depth > MAX_DEPTH) throw this.#error(`is nested deeper than ${MAX_DEPTH}`)
    const first = this.#next()
    if (first === QUOTE) return this.#string()
    if (first === OPEN_OBJECT) return this.#object(depth)
    return first === OPEN_LIST ? this.#list(depth) : this.#scalar()
  }

  #object(depth: number): Map<string, JsonValue<Scalar>> {
    const members = new Map<string, JsonValue<Scalar>>()
    this.#at++
    if (this.#skip(CLOSE_OBJECT)) return members
    do {
      const key = this.#key(members)
      this.#expect(COLON)
      members.set(key, this.#value(depth + 1))
    } while (this.#skip(COMMA))
    this.#expect(CLOSE_OBJECT)
    return members
  }

  #key(members: Map<string, unknown>): string {
    if (this.#next() !== QUOTE) throw this.#error('is not JSON: a string was expected')
    const key = this.#string()
    if (this.#dialect.isStrict && members.has(key)) {
      throw this.#error(`holds the key ${JSON.stringify(key.slice(0, 80))} twice`)
    }
    return key
  }

  #list(depth: number): JsonValue<Scalar>[] {
    const items: JsonValue<Scalar>[] = []
    this.#at++
    if (this.#skip(CLOSE_LIST)) return items
    do items.push(this.#value(depth + 1))
    while (this.#skip(COMMA))
    this.#expect(CLOSE_LIST)
    return items
  }

  #string(): string {
    const start = this.#at
    const end = this.#closingQuote()
    const inside = this.#text.slice(start + 1, end)
    const isPlain = !this.#dialect.isStrict && !inside.includes('\\')
    const value = isPlain ? inside : this.#unescaped(this.#text.slice(start, end + 1))
    this.#at = end + 1
    return value
  }

  /** No regular expression: those overflow on strings of many megabytes. */
  #closingQuote(): number {
    let at = this.#at
    do at = this.#text.indexOf('"', at + 1)
    while (at > 0 && isEscaped(this.#text, at))
    if (at < 0) throw this.#error('is not JSON: a string does not end')
    return at
  }

  #unescaped(literal: string): string {
    try {
      return JSON.parse(literal) as string
    } catch {
      throw this.#error('is not JSON: a string is malformed')
    }
  }

  #scalar(): Scalar {
    const { scalar } = this.#dialect
    const start = this.#at
    scalar.lastIndex = start
    if (!scalar.test(this.#text)) throw this.#error('is not JSON')
    this.#at = scalar.lastIndex
    return this.#dialect.readScalar(this.#text.slice(start, this.#at))
  }

  #expect(code: number): void {
    if (!this.#skip(code)) throw this.#error(`is not JSON: "${String.fromCharCode(code)}" was expected`)
  }

  #skip(code: number): boolean {
    const isThere = this.#next() === code
    if (isThere) this.#at++
    return isThere
  }

  /** The next character that is not a blank. */
  #next(): number {
    let code = this.#text.charCodeAt(this.#at)
    while (code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d) code = this.#text.charCodeAt(++this.#at)
    return code
  }

  #error(problem: string): Error {
    return this.#dialect.error(problem, this.#at)
  }
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0
  while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes++
  return backslashes % 2 === 1
}
