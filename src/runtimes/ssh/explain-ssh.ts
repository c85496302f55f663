import { shellWord } from '../../domain/shell.ts'
import { cleanProse } from '../../domain/text.ts'
import type { Connection } from './connection.ts'

/** What ssh said when it could not connect, as a sentence with what to do. */
export function explainSsh(said: string, connection: Connection): string {
  const known = EXPLANATIONS.find(({ signs }) => signs.test(said))
  return known ? known.text(connection, said) : `ssh could not reach ${connection.destination}: ${lastLine(said)}`
}

interface Explanation {
  readonly signs: RegExp
  readonly text: (connection: Connection, said: string) => string
}

const hostOf = ({ destination }: Connection) => destination.slice(destination.lastIndexOf('@') + 1)
const fileOf = ({ knownHosts }: Connection) => knownHosts ?? '~/.ssh/known_hosts'
const placeOf = (connection: Connection) => `${hostOf(connection)}, port ${connection.port ?? 22}`

/** As ssh writes hosts with an unusual port into known_hosts. */
function keyName(connection: Connection): string {
  const { port } = connection
  return port === null || port === '22' ? hostOf(connection) : `[${hostOf(connection)}]:${port}`
}

function scanCommand(connection: Connection): string {
  const port = connection.port === null ? [] : ['-p', connection.port]
  const file = connection.knownHosts === null ? fileOf(connection) : shellWord(connection.knownHosts)
  return `${['ssh-keyscan', ...port, hostOf(connection)].join(' ')} >> ${file}`
}

const COMPARE =
  'after comparing its fingerprint with what ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub says on the board'

const EXPLANATIONS: readonly Explanation[] = [
  {
    signs: /HOST IDENTIFICATION HAS CHANGED|host key for .* has changed|REVOKED HOST KEY/i,
    text: (c) =>
      `the host key of ${keyName(c)} is not the one in ${fileOf(c)}; either the board was reinstalled or this is another machine. ` +
      `If it is the board: ssh-keygen -R ${shellWord(keyName(c))} -f ${shellWord(fileOf(c))}, then ${scanCommand(c)} (${COMPARE})`,
  },
  {
    signs: /host key is known for|Host key verification failed/i,
    text: (c) => `the host key of ${keyName(c)} is not in ${fileOf(c)}; add it with ${scanCommand(c)} (${COMPARE})`,
  },
  {
    signs: /Could not resolve hostname|Name or service not known|nodename nor servname/i,
    text: (c) =>
      `there is no host "${hostOf(c)}" (its name cannot be resolved); check the spelling or give its IP address`,
  },
  {
    signs: /Connection refused/i,
    text: (c) => `nothing answers at ${placeOf(c)} (connection refused); does sshd run there? port= names another port`,
  },
  {
    signs: /timed out|No route to host|Network is unreachable|Host is down/i,
    text: (c, said) =>
      `${placeOf(c)} cannot be reached (${/timed out|No route to host|Network is unreachable|Host is down/i.exec(said)![0].toLowerCase()}); is the board on and in this network?`,
  },
  {
    signs: /Identity file .* not accessible|no such identity/i,
    text: (c) => `the key identity=${c.identity} cannot be read; give the file of a private key`,
  },
  {
    signs: /UNPROTECTED PRIVATE KEY|bad permissions/i,
    text: (c) => `ssh does not use ${c.identity ?? 'the key'} because others can read it; run chmod 600 on it`,
  },
  {
    signs: /Permission denied|Too many authentication failures|No supported authentication methods/i,
    text: (c) =>
      `${c.destination} does not accept ${c.identity === null ? 'your keys' : `the key ${c.identity}`} (Assay does not ask for a password); ` +
      `ssh-copy-id ${c.port === null ? '' : `-p ${c.port} `}${c.identity === null ? '' : `-i ${shellWord(c.identity)} `}${c.destination} adds it there, identity= names another, a key with a passphrase needs ssh-agent`,
  },
]

function lastLine(said: string): string {
  return cleanProse(said.trimEnd().split('\n').at(-1) ?? '') || 'it said nothing'
}
