import type { IncomingMessage } from 'node:http'

export interface RequestTarget {
  readonly path: string
  readonly query: URLSearchParams
}

/** As it was sent: nothing is decoded, and no `..` is resolved. */
export function readTarget({ url = '/' }: Pick<IncomingMessage, 'url'>): RequestTarget {
  const [path = '/', query] = url.split('?', 2)
  return { path, query: new URLSearchParams(query) }
}
