import { FormatError } from '../../domain/errors.ts'

export type StrictJson = string | number | boolean | null | StrictJson[] | Map<string, StrictJson>

const MAX_DEPTH = 32
const BLANKS = /[ \t\r\n]*/y
const LITERAL = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y

/** JSON from untrusted files: objects become Maps, a repeated key or deep nesting is an error. */
export function parseStrictJson(text: string, what: string): StrictJson {
  const reader = new Reader(text, what)
  const value = reader.value(0)
  reader.end()
  return value
}

class Reader {
  private at = 0
  private readonly text: string
  private readonly what: string
  constructor(text: string, what: string) {
    this.text = text
    this.what = what
  }

  value(depth: number): StrictJson {
    if (depth > MAX_DEPTH) throw this.error(`is nested deeper than ${MAX_DEPTH}`)
    this.take(BLANKS)
    const next = this.text[this.at]
    if (next === '{') return this.object(depth)
    if (next === '[') return this.list(depth)
    if (next === '"') return this.string()
    const literal = this.take(LITERAL)
    if (!literal) throw this.error('is not JSON')
    return JSON.parse(literal) as StrictJson
  }

  end(): void {
    this.take(BLANKS)
    if (this.at !== this.text.length) throw this.error('has extra text after its end')
  }

  private object(depth: number): StrictJson {
    const members = new Map<string, StrictJson>()
    this.items('}', () => {
      const key = this.string()
      if (members.has(key)) throw this.error(`holds the key ${JSON.stringify(key.slice(0, 80))} twice`)
      this.expect(':')
      members.set(key, this.value(depth + 1))
    })
    return members
  }

  private list(depth: number): StrictJson {
    const items: StrictJson[] = []
    this.items(']', () => items.push(this.value(depth + 1)))
    return items
  }

  private items(close: string, item: () => void): void {
    this.at++
    if (this.skip(close)) return
    do {
      this.take(BLANKS)
      item()
    } while (this.skip(','))
    this.expect(close)
  }

  private string(): string {
    if (this.text[this.at] !== '"') throw this.error('is not JSON: a string was expected')
    const literal = this.text.slice(this.at, this.closingQuote() + 1)
    try {
      const value = JSON.parse(literal) as string
      this.at += literal.length
      return value
    } catch {
      throw this.error('is not JSON: a string is malformed')
    }
  }

  /** No regular expression: those overflow on strings of many megabytes. */
  private closingQuote(): number {
    let at = this.at
    do at = this.text.indexOf('"', at + 1)
    while (at > 0 && isEscaped(this.text, at))
    if (at < 0) throw this.error('is not JSON: a string does not end')
    return at
  }

  private expect(character: string): void {
    if (!this.skip(character)) throw this.error(`is not JSON: "${character}" was expected`)
  }

  private skip(character: string): boolean {
    this.take(BLANKS)
    const found = this.text[this.at] === character
    if (found) this.at++
    return found
  }

  private take(pattern: RegExp): string {
    pattern.lastIndex = this.at
    const found = pattern.exec(this.text)?.[0] ?? ''
    this.at += found.length
    return found
  }

  private error(problem: string): FormatError {
    return new FormatError('json', `${this.what} ${problem} (at character ${this.at}); write the file again`)
  }
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0
  while (text[at - 1 - backslashes] === '\\') backslashes++
  return backslashes % 2 === 1
}
