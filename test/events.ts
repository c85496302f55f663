import type { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'

/** Resolves when something holds that nothing tells us of; how long that may take is up to the test's own limit. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await pause(20)
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
