import { UsageError } from '../../domain/errors.ts'

/** Tells whether an expression holds, given which words match. */
type Expression = (matches: (word: string) => boolean) => boolean

interface Token {
  readonly text: string
  readonly column: number
}

const MAX_DEPTH = 200

/** The grammar of pytest's -k: or < and < not < parentheses; a word is anything but blanks and parentheses. */
export function parseExpression(text: string): Expression {
  return new Parser(text).parse()
}

class Parser {
  readonly #text: string
  readonly #tokens: readonly Token[]
  #at = 0
  #depth = 0

  constructor(text: string) {
    this.#text = text
    this.#tokens = [...text.matchAll(/[()]|[^\s()]+/g)].map((match) => ({ text: match[0], column: match.index + 1 }))
  }

  parse(): Expression {
    const expression = this.#either()
    if (this.#at < this.#tokens.length) throw this.#error('"and", "or" or the end')
    return expression
  }

  #either(): Expression {
    const parts = [this.#both()]
    while (this.#take('or')) parts.push(this.#both())
    return (matches) => parts.some((part) => part(matches))
  }

  #both(): Expression {
    const parts = [this.#negated()]
    while (this.#take('and')) parts.push(this.#negated())
    return (matches) => parts.every((part) => part(matches))
  }

  #negated(): Expression {
    let isNegated = false
    while (this.#take('not')) isNegated = !isNegated
    const operand = this.#operand()
    return isNegated ? (matches) => !operand(matches) : operand
  }

  #operand(): Expression {
    if (this.#take('(')) return this.#group()
    const word = this.#tokens[this.#at]?.text
    if (word === undefined || ['and', 'or', ')'].includes(word)) throw this.#error('a word, "not" or "("')
    this.#at++
    return (matches) => matches(word)
  }

  #group(): Expression {
    if (++this.#depth > MAX_DEPTH) throw this.#error(`at most ${MAX_DEPTH} nested parentheses`)
    const inner = this.#either()
    if (!this.#take(')')) throw this.#error('"and", "or" or ")"')
    this.#depth--
    return inner
  }

  #take(text: string): boolean {
    const found = this.#tokens[this.#at]?.text === text
    if (found) this.#at++
    return found
  }

  #error(wanted: string): UsageError {
    const token = this.#tokens[this.#at]
    const column = token?.column ?? this.#text.length + 1
    const found = token ? `"${token.text}"` : 'the end'
    return new UsageError(
      'keyword',
      `-k ${JSON.stringify(this.#text)}: found ${found} at column ${column}, expected ${wanted}`,
    )
  }
}
