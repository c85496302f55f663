import { timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { strangerAt } from '../runtimes/loopback/peer.ts'

export interface HttpRefusal {
  readonly status: number
  readonly text: string
}

const SAME_SITE = new Set([undefined, 'same-origin', 'none'])

/** Whether a request comes from a page of ours or from somebody's address bar; null: it does. */
export function refusalOf(request: IncomingMessage, port: number): HttpRefusal | null {
  const stranger = strangerAt(request.socket)
  if (stranger) return { status: 403, text: stranger }
  const { host, origin, 'sec-fetch-site': site } = request.headers
  const isOurs = [`127.0.0.1:${port}`, `localhost:${port}`].includes(host ?? '')
  if (!isOurs || !request.url?.startsWith('/'))
    return { status: 421, text: `not for this server: it is 127.0.0.1:${port}` }
  if (origin !== undefined && origin !== `http://${host}`) return { status: 403, text: 'another site may not ask here' }
  if (!SAME_SITE.has(site as string | undefined) && !isArrival(request)) {
    return { status: 403, text: 'another site led here: copy the address into the address bar instead' }
  }
  return request.method === 'GET' ? null : { status: 405, text: 'only GET' }
}

/** Somebody opens the address from elsewhere, such as from the file that hides it from command lines. */
function isArrival({ url, headers }: IncomingMessage): boolean {
  const { 'sec-fetch-mode': mode, 'sec-fetch-dest': destination } = headers
  return mode === 'navigate' && destination === 'document' && url!.startsWith('/?token=')
}

/** The part of a cookie header after this name. */
export function cookieOf({ headers }: IncomingMessage, name: string): string {
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim())
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1) ?? ''
}

/** In a time that does not tell how much of it was right. */
export function isSecret(given: string, secret: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(secret)]
  return a.length === b.length && timingSafeEqual(a, b)
}
