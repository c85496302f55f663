import { FormatError } from '../../../domain/errors.ts'
import { cleanText } from '../../../domain/text.ts'

const MAX_LENGTH = 10_000

/** Reads a pattern by code points, as Python counts them. */
export class PatternReader {
  readonly #characters: readonly string[]
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
    this.#characters = Array.from(text)
    if (text.length > MAX_LENGTH) throw this.error(`is longer than ${MAX_LENGTH} characters`)
  }

  get at(): number {
    return this.#at
  }

  goTo(at: number): void {
    this.#at = at
  }

  peek(offset = 0): string | undefined {
    return this.#characters[this.#at + offset]
  }

  next(inside: string): string {
    const character = this.#characters[this.#at++]
    if (character === undefined) throw this.error(`ends inside ${inside}`)
    return character
  }

  skip(text: string): boolean {
    const characters = Array.from(text)
    if (!characters.every((character, i) => this.peek(i) === character)) return false
    this.#at += characters.length
    return true
  }

  /** Takes all characters that fit, at most `most`. */
  take(fits: RegExp, most = Number.POSITIVE_INFINITY): string {
    let taken = ''
    for (let next = this.peek(); next !== undefined && taken.length < most && fits.test(next); next = this.peek()) {
      taken += next
      this.#at++
    }
    return taken
  }

  /** Reads up to a character and skips it. */
  until(end: string, inside: string): string {
    let taken = ''
    for (let next = this.next(inside); next !== end; next = this.next(inside)) taken += next
    return taken
  }

  error(problem: string): FormatError {
    const shown = JSON.stringify(cleanText(this.#text, 120))
    return new FormatError('pattern', `the pattern ${shown} ${problem} (at character ${this.#at})`)
  }
}
