import type { Environment } from '../domain/environment.ts'
import { cleanText, shortenEnd } from '../domain/text.ts'
import type { TextStream } from './context.ts'
import { isRedrawn, Screen } from './screen.ts'
import type { Style } from './style.ts'

/** What goes on just now: one line that is replaced on a terminal. Elsewhere every step is a line of its own. */
export class StatusLine {
  readonly #style: Style
  readonly #screen: Screen
  readonly #isRedrawn: boolean

  constructor(stream: TextStream, style: Style, env: Environment) {
    this.#style = style
    this.#screen = new Screen(stream, style)
    this.#isRedrawn = isRedrawn(stream, env)
  }

  step(text: string): void {
    if (this.#isRedrawn) this.detail(text)
    else this.#screen.update([cleanText(text)], [])
  }

  /** Only for somebody who watches: a log would get too many of them. */
  detail(text: string): void {
    if (this.#isRedrawn) this.#screen.update([], [shortenEnd(cleanText(text), this.#style.columns - 1)])
  }

  clear(): void {
    this.#screen.update([], [])
  }
}
