const NEWLINE = 0x0a
const RETURN = 0x0d

/** Only this much of a line is read. */
export const LONGEST_LINE_BYTES = 64 * 1024

/** Cuts bytes into lines: `\n`, `\r\n` and the `\r` of a progress bar end one; what is beyond the longest line is dropped. */
export class LineSplitter {
  /** Lines that were cut. */
  cutCount = 0
  #start: Buffer[] = []
  #startLength = 0
  #isCut = false
  #endedByReturn = false

  feed(part: Buffer): string[] {
    if (part.length === 0) return []
    const from = this.#endedByReturn && part[0] === NEWLINE ? 1 : 0
    this.#endedByReturn = part.at(-1) === RETURN
    const last = Math.max(part.lastIndexOf(NEWLINE), part.lastIndexOf(RETURN))
    const lines = last < from ? [] : this.#lines(part, from, last)
    this.#keep(part.subarray(Math.max(last + 1, from)))
    return lines
  }

  /** The last line, where nothing ended it. */
  end(): string[] {
    return this.#startLength > 0 ? [this.#takeStart().toString()] : []
  }

  #lines(part: Buffer, from: number, last: number): string[] {
    const isPair = last > from && part[last] === NEWLINE && part[last - 1] === RETURN
    const whole = part.subarray(this.#isCut ? firstEnd(part) : from, isPair ? last - 1 : last)
    const bytes = this.#startLength > 0 ? Buffer.concat([this.#takeStart(), whole]) : whole
    const text = bytes.toString()
    const lines = text.includes('\r') ? text.split(/\r\n|\r|\n/) : text.split('\n')
    return bytes.length > LONGEST_LINE_BYTES ? lines.map((line) => this.#cut(line)) : lines
  }

  #cut(line: string): string {
    if (line.length <= LONGEST_LINE_BYTES) return line
    this.cutCount++
    return line.slice(0, LONGEST_LINE_BYTES)
  }

  #keep(bytes: Buffer): void {
    const kept = bytes.subarray(0, LONGEST_LINE_BYTES - this.#startLength)
    if (kept.length > 0) this.#start.push(kept)
    this.#startLength += kept.length
    this.#isCut ||= kept.length < bytes.length
  }

  #takeStart(): Buffer {
    const start = Buffer.concat(this.#start)
    if (this.#isCut) this.cutCount++
    this.#start = []
    this.#startLength = 0
    this.#isCut = false
    return start
  }
}

function firstEnd(part: Buffer): number {
  const newline = part.indexOf(NEWLINE)
  const found = part.subarray(0, newline < 0 ? part.length : newline).indexOf(RETURN)
  return found < 0 ? newline : found
}
