import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { endianness } from 'node:os'

/** The kernel's lists of connections, IPv4 and IPv6; Linux has them. */
const TABLES = ['/proc/net/tcp', '/proc/net/tcp6']
/** A list that changes while it is read may lack a line. */
const LOOKS = 3

const judged = new WeakMap<Socket, string | null>()

/** Why the program at the other end of a loopback connection may not ask here: another user runs it. Null where nobody can tell. */
export function strangerAt(socket: Socket): string | null {
  const known = judged.get(socket)
  if (known !== undefined) return known
  const found = judge(socket)
  judged.set(socket, found)
  return found
}

function judge(socket: Socket): string | null {
  const own = process.getuid?.()
  if (process.platform !== 'linux' || own === undefined) return null
  for (let look = 0; look < LOOKS; look++) {
    const tables = readTables()
    if (tables === null) return null
    const uid = peerUid(tables, socket)
    // Root can read our memory anyway, and relays such as that of WSL run as root.
    if (uid !== null)
      return uid === own || uid === 0 ? null : `user ${uid} of this machine may not connect here, only user ${own}`
  }
  return 'nobody is at the other end of this connection'
}

function readTables(): string | null {
  try {
    return TABLES.map((path) => readFileSync(path, 'latin1')).join('')
  } catch {
    return null
  }
}

type Ends = Pick<Socket, 'remoteAddress' | 'remotePort' | 'localAddress' | 'localPort'>

const MAPPED = endianness() === 'LE' ? '0000000000000000FFFF0000' : '00000000000000000000FFFF'

/** The user whose socket is at the other end; null: no list has it, or it is closed, when the kernel says 0 of everybody. */
export function peerUid(tables: string, { remoteAddress, remotePort, localAddress, localPort }: Ends): number | null {
  const peer = endCode(remoteAddress, remotePort)
  const own = endCode(localAddress, localPort)
  const line = [`${peer} ${own} `, `${MAPPED}${peer} ${MAPPED}${own} `]
    .map((ends) => restOfLine(tables, ends))
    .find(Boolean)
  const [, , , , uid, , inode] = line?.split(/ +/) ?? []
  return uid === undefined || inode === undefined || inode === '0' ? null : Number(uid)
}

function restOfLine(tables: string, ends: string): string | null {
  const at = tables.indexOf(` ${ends}`)
  return at < 0 ? null : tables.slice(at + 1 + ends.length).split('\n', 1)[0]!
}

/** As the kernel writes it: 127.0.0.1:80 is `0100007F:0050` where the lowest byte comes first. */
function endCode(address = '', port = 0): string {
  const bytes = address.split('.').map(Number)
  const ordered = endianness() === 'LE' ? bytes.reverse() : bytes
  const hex = (number: number, digits: number) => number.toString(16).toUpperCase().padStart(digits, '0')
  return `${ordered.map((byte) => hex(byte, 2)).join('')}:${hex(port, 4)}`
}
