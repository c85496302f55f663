import { randomBytes, timingSafeEqual } from 'node:crypto'

export function newSecret(): string {
  return randomBytes(16).toString('hex')
}

/** In a time that does not tell how much of it was right. */
export function isSecret(given: string, secret: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(secret)]
  return a.length === b.length && timingSafeEqual(a, b)
}
