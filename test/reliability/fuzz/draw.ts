/** Draws that depend on a text alone, so that any input of a job can be made again by its number. */
export class Draw {
  #state: number

  constructor(text: string) {
    this.#state = 0x811c9dc5
    for (let i = 0; i < text.length; i++) this.#state = Math.imul(this.#state ^ text.charCodeAt(i), 0x01000193)
  }

  /** From 0 to below 1. */
  fraction(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** A whole number from 0 to below this one. */
  below(limit: number): number {
    return Math.floor(this.fraction() * limit)
  }

  one<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!
  }
}
