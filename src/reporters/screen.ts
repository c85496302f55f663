import type { Environment } from '../domain/environment.ts'
import { displayWidth, withoutCommands } from '../domain/text.ts'
import type { TextStream } from './context.ts'
import { asciiSigns, countColumns, type Style } from './style.ts'

/** Whether somebody sees what is drawn over, and does not get it as escape codes in a log. */
export function isRedrawn(stream: TextStream, env: Environment): boolean {
  return stream.isTTY === true && env.TERM !== 'dumb' && !env.CI
}

/** Lines that stay, and below them, on a terminal, a block that is drawn anew. */
export class Screen {
  readonly #stream: TextStream
  readonly #style: Style
  #drawn: readonly string[] = []

  constructor(stream: TextStream, style: Style) {
    this.#stream = stream
    this.#style = style
  }

  /** Writes the lines above the block and draws the block again; all in one write, so that nothing flickers. */
  update(lines: readonly string[], block: readonly string[]): void {
    const safe = [...lines, ...block].map((line) => this.#safe(line))
    const next = safe.slice(lines.length)
    if (lines.length === 0 && sameLines(next, this.#drawn)) return
    this.#stream.write(`${this.#erase()}${safe.map((line) => `${line}\n`).join('')}`)
    this.#drawn = next
  }

  /** Rows are counted at the present width: a terminal made narrower has wrapped what was drawn. */
  #erase(): string {
    const columns = countColumns(this.#stream)
    const rows = this.#drawn.reduce((sum, line) => sum + rowsOf(line, columns), 0)
    return rows > 0 ? `\u001b[${rows}A\r\u001b[0J` : ''
  }

  #safe(line: string): string {
    const inert = withoutCommands(line)
    return this.#style.ascii ? asciiSigns(inert) : inert
  }
}

function sameLines(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((line, i) => line === b[i])
}

function rowsOf(line: string, columns: number): number {
  return Math.max(1, Math.ceil(displayWidth(line) / columns))
}
