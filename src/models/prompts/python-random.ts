const WORDS = 624
const MIDDLE = 397

/** The Mersenne Twister as Python's `random.Random(seed)` uses it, so that a seed shuffles here as it does there. */
export class PythonRandom {
  readonly #state = new Uint32Array(WORDS)
  #next = WORDS

  constructor(seed: number) {
    if (!Number.isSafeInteger(seed)) throw new RangeError(`a seed of ${seed}, expected a whole number`)
    const size = Math.abs(seed)
    const high = Math.floor(size / 2 ** 32)
    this.#mix(high > 0 ? [size >>> 0, high] : [size >>> 0])
  }

  /** `shuffle` of Python, on a copy. */
  shuffled<T>(items: readonly T[]): T[] {
    const order = [...items]
    for (let i = order.length - 1; i > 0; i--) {
      const j = this.#below(i + 1)
      const swapped = order[i]!
      order[i] = order[j]!
      order[j] = swapped
    }
    return order
  }

  /** As many bits as the limit has, drawn anew until they are below it. */
  #below(limit: number): number {
    const shift = Math.clz32(limit)
    for (;;) {
      const drawn = this.#bits() >>> shift
      if (drawn < limit) return drawn
    }
  }

  #bits(): number {
    if (this.#next === WORDS) this.#twist()
    let word = this.#state[this.#next++]!
    word ^= word >>> 11
    word ^= (word << 7) & 0x9d2c5680
    word ^= (word << 15) & 0xefc60000
    return (word ^ (word >>> 18)) >>> 0
  }

  #twist(): void {
    const state = this.#state
    for (let i = 0; i < WORDS; i++) {
      const joined = (state[i]! & 0x80000000) | (state[(i + 1) % WORDS]! & 0x7fffffff)
      state[i] = state[(i + MIDDLE) % WORDS]! ^ (joined >>> 1) ^ (joined & 1 ? 0x9908b0df : 0)
    }
    this.#next = 0
  }

  /** `init_by_array` of the reference implementation. */
  #mix(key: readonly number[]): void {
    const state = this.#state
    state[0] = 19650218
    for (let i = 1; i < WORDS; i++) state[i] = Math.imul(1812433253, spread(state[i - 1]!)) + i
    let at = 1
    for (let k = 0; k < WORDS; k++) {
      const j = k % key.length
      state[at] = (state[at]! ^ Math.imul(spread(state[at - 1]!), 1664525)) + key[j]! + j
      at = this.#after(at)
    }
    for (let k = 1; k < WORDS; k++) {
      state[at] = (state[at]! ^ Math.imul(spread(state[at - 1]!), 1566083941)) - at
      at = this.#after(at)
    }
    state[0] = 0x80000000
  }

  #after(at: number): number {
    if (at + 1 < WORDS) return at + 1
    this.#state[0] = this.#state[WORDS - 1]!
    return 1
  }
}

function spread(word: number): number {
  return word ^ (word >>> 30)
}
