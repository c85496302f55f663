import type { InputStream } from './io.ts'

/** What the user may ask for with one key. */
export type Key = 'all' | 'failed' | 'quit'

const KEYS: Readonly<Record<string, Key>> = {
  r: 'all',
  '\r': 'all',
  f: 'failed',
  q: 'quit',
  '\u0003': 'quit',
  '\u0004': 'quit',
}

/** The next known key; null without a terminal. */
export function listenForKeys(stdin: InputStream, signal: AbortSignal): Promise<Key> | null {
  if (!stdin.isTTY) return null
  stdin.setRawMode?.(true)
  stdin.resume()
  return new Promise((resolve) => {
    const take = (bytes: Buffer) => {
      const key = KEYS[String(bytes)]
      if (key) resolve(key)
    }
    stdin.on('data', take)
    signal.addEventListener('abort', () => {
      stdin.off('data', take)
      stdin.setRawMode?.(false)
      stdin.pause()
    })
  })
}
