import { isIPv6 } from 'node:net'
import { UsageError } from '../../domain/errors.ts'
import { cleanText } from '../../domain/text.ts'

/** Where ssh goes: `user@host` in parts; the rest is in the target's options. */
export interface Address {
  readonly user: string | null
  readonly host: string
}

const USER = /^[A-Za-z0-9_][A-Za-z0-9_.+-]{0,63}$/
const HOST = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,252}$/
const IPV6 = /^\[?([0-9A-Fa-f:.]{2,45}(?:%[A-Za-z0-9]{1,15})?)\]?$/

/** Takes nothing that ssh or a shell could read as anything but a user and a host. */
export function parseAddress(text: string): Address {
  const at = text.lastIndexOf('@')
  const user = at < 0 ? null : text.slice(0, at)
  const given = text.slice(at + 1)
  if (user !== null && !USER.test(user)) throw refused(text, `the user "${cleanText(user, 60)}"`)
  if (HOST.test(given)) return { user, host: given }
  const bare = IPV6.exec(given)?.[1] ?? ''
  if (isIPv6(bare)) return { user, host: bare }
  const port = /^([^:]+):(\d+)$/.exec(given)
  if (port) throw new UsageError('target', `"${cleanText(text, 120)}": the port is given as port=${port[2]}`)
  throw refused(text, `the host "${cleanText(given, 120)}"`)
}

function refused(text: string, part: string): UsageError {
  const expected = 'expected [user@]host of letters, digits, ".", "-" and "_", or an IPv6 address'
  return new UsageError('target', `the board "${cleanText(text, 120)}" is refused because of ${part}; ${expected}`)
}

/** As ssh takes it. */
export function formatDestination({ user, host }: Address): string {
  return user === null ? host : `${user}@${host}`
}
