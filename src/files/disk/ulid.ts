import { randomBytes } from 'node:crypto'

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const LENGTH = 26
const TIME_LENGTH = 10
const RANDOM_BITS = 80n

let last = 0n

/** Sorts by time of making; within one process strictly, even when the clock stands still or goes back. */
export function ulid(nowMs = Date.now()): string {
  const fresh = (BigInt(nowMs) << RANDOM_BITS) | BigInt(`0x${randomBytes(10).toString('hex')}`)
  last = fresh > last ? fresh : last + 1n
  return encode(last)
}

let lastMoment = 0

/** The time, later at every call and never before this process's newest ULID, also where the clock is set back. */
export function laterMs(): number {
  lastMoment = Math.max(Date.now(), lastMoment + 1, Number(last >> RANDOM_BITS))
  return lastMoment
}

function encode(value: bigint): string {
  let text = ''
  for (let rest = value; text.length < LENGTH; rest >>= 5n) text = ALPHABET[Number(rest & 31n)] + text
  return text
}

export function isUlid(text: string): boolean {
  return text.length === LENGTH && /^[0-7][0-9A-HJKMNP-TV-Z]+$/.test(text)
}

/** When it was made; null: not a ULID. */
export function ulidTimeMs(text: string): number | null {
  if (!isUlid(text)) return null
  return [...text.slice(0, TIME_LENGTH)].reduce((sum, digit) => sum * 32 + ALPHABET.indexOf(digit), 0)
}
