/** A stream of pseudo-random numbers that is the same on every machine: integer arithmetic only (xoshiro128**). */
export interface RandomStream {
  /** 32 random bits. */
  bits(): number
  /** In [0, 1), a multiple of 2^-24, so float32 holds it exactly. */
  unit(): number
  /** In [0, 1), with all 53 bits of a double. */
  unit53(): number
  /** A whole number from `low` to `high`, both included. */
  integer(low: number, high: number): number
  /** About N(0, 1). */
  normal(): number
}

/** Every name has a stream of its own, so one more input does not change the others. */
export function randomStream(seed: number, name: string): RandomStream {
  const bits = xoshiro(stateOf(`${seed}\u0000${name}`))
  const unit = () => (bits() >>> 8) / 0x1000000
  const unit53 = () => ((bits() >>> 5) * 0x4000000 + (bits() >>> 6)) / 0x20000000000000
  const integer = (low: number, high: number) => low + Math.floor(unit53() * (high - low + 1))
  return { bits, unit, unit53, integer, normal: () => irwinHall(unit) }
}

// Twelve uniforms need no logarithm or sine, whose last bits differ between machines; the tails end at ±6.
function irwinHall(unit: () => number): number {
  let sum = -6
  for (let i = 0; i < 12; i++) sum += unit()
  return sum
}

function xoshiro([a, b, c, d]: [number, number, number, number]): () => number {
  return () => {
    const result = Math.imul(rotateLeft(Math.imul(b, 5), 7), 9) >>> 0
    const shifted = b << 9
    c ^= a
    d ^= b
    b ^= c
    a ^= d
    c ^= shifted
    d = rotateLeft(d, 11)
    return result
  }
}

function rotateLeft(value: number, by: number): number {
  return (value << by) | (value >>> (32 - by))
}

/** FNV-1a of the text, spread over four words by splitmix32; the state is never all zero. */
function stateOf(text: string): [number, number, number, number] {
  let hash = 0x811c9dc5
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193)
  const next = () => {
    hash = (hash + 0x9e3779b9) | 0
    let word = Math.imul(hash ^ (hash >>> 16), 0x21f0aaad)
    word = Math.imul(word ^ (word >>> 15), 0x735a2d97)
    return word ^ (word >>> 15)
  }
  return [next(), next(), next(), next() | 1]
}
