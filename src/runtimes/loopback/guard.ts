import type { IncomingMessage } from 'node:http'
import { strangerAt } from './peer.ts'
import { readTarget } from './request-target.ts'

/** Where a server differs from one that only its own pages may ask, at its own port. */
export interface GuardRules {
  /** Host may name any port: people open the page from another machine, through a port that ssh forwards. */
  readonly mayBeForwarded?: boolean
  /** Other sites may ask and lead here: nothing that is served is secret, and a socket is refused them all the same. */
  readonly isPublic?: boolean
  /** Other sites may lead to this beginning of an address: a file leads there, which hides it from command lines. */
  readonly arrival?: string
}

export interface HttpRefusal {
  readonly status: number
  readonly text: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Why a request gets no answer; null: it comes from a page of ours or from somebody's address bar. */
export function findRefusal(request: IncomingMessage, rules: GuardRules): HttpRefusal | null {
  const stranger = strangerAt(request.socket)
  if (stranger) return { status: 403, text: stranger }
  if (!isForUs(request, rules))
    return { status: 421, text: `not for this server: it is 127.0.0.1:${request.socket.localPort}` }
  if (!rules.isPublic) {
    const foreign = findForeignSite(request, rules)
    if (foreign) return { status: 403, text: foreign }
  }
  if (request.method !== 'GET') return { status: 405, text: 'only GET', headers: { Allow: 'GET' } }
  // Hono's adapter would answer it with an empty 400.
  if (readTarget(request).path.includes('\\')) return { status: 404, text: 'not found' }
  return null
}

/** Browsers let every site open sockets to any address, and always say which site it is. */
export function mayOpenSocket(request: IncomingMessage, rules: GuardRules): boolean {
  const { host, origin } = request.headers
  return !strangerAt(request.socket) && isForUs(request, rules) && origin === `http://${host}`
}

const NAMES = ['127.0.0.1', 'localhost']
/** An end of ssh that forwards may have this one too. */
const FORWARDED_NAMES = [...NAMES, '[::1]']

/** A name that somebody else pointed at the loopback address is refused, and so is a request to a proxy. */
function isForUs({ headers: { host = '' }, url, socket }: IncomingMessage, { mayBeForwarded }: GuardRules): boolean {
  if (!url?.startsWith('/')) return false
  if (!mayBeForwarded) return NAMES.some((name) => host === `${name}:${socket.localPort}`)
  const [, name = host, port = '80'] = /^(.*):(\d{1,5})$/.exec(host) ?? []
  return FORWARDED_NAMES.includes(name) && Number(port) < 2 ** 16
}

const OWN_SITES = new Set<unknown>([undefined, 'same-origin', 'none'])

function findForeignSite(request: IncomingMessage, { arrival }: GuardRules): string | null {
  const { host, origin, 'sec-fetch-site': site } = request.headers
  if (origin !== undefined && origin !== `http://${host}`) return 'another site may not ask here'
  if (OWN_SITES.has(site) || (arrival !== undefined && isArrival(request, arrival))) return null
  return 'another site led here: copy the address into the address bar instead'
}

function isArrival({ url, headers }: IncomingMessage, arrival: string): boolean {
  const { 'sec-fetch-mode': mode, 'sec-fetch-dest': destination } = headers
  return mode === 'navigate' && destination === 'document' && url!.startsWith(arrival)
}
