import type { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'

/** Just below the limit of a test, so that what it waited for is said. */
const LIMIT_MS = 170_000

/** Resolves when something holds that nothing tells us of. */
export async function until(holds: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const startedAt = performance.now()
  while (!(await holds())) {
    if (performance.now() - startedAt > LIMIT_MS) throw new Error(`waited in vain for this: ${what}`)
    await pause(20)
  }
}

/** Resolves when a stream has had a text. */
export function said(stream: Readable, text: string): Promise<void> {
  let seen = ''
  return new Promise((resolve) => {
    stream.on('data', (part: string | Buffer) => {
      seen += String(part)
      if (seen.includes(text)) resolve()
    })
  })
}
