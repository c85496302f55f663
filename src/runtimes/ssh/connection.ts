import { type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import type { Environment } from '../../domain/environment.ts'

/** How a board is reached; plain data, so that it can be handed to a bridge. */
export interface Connection {
  /** As ssh takes it: `user@host`. */
  readonly destination: string
  readonly port: string | null
  readonly identity: string | null
  readonly knownHosts: string | null
  /** After how many seconds without an answer the connection counts as lost. */
  readonly silenceSeconds: number
  /** Socket of the connection that all commands share; null: each has its own. */
  readonly control: string | null
  /** What ssh inherits; the environment of this process by default. */
  readonly environment?: Environment
}

const CONNECT_SECONDS = 15
const UNANSWERED = 3

/** What ssh is started with; the command is read by the login shell of the board, so it is kept to plain words. */
export function sshArgv(connection: Connection, command: string, role: 'first' | 'guest' = 'guest'): string[] {
  const { destination, port, identity, knownHosts, silenceSeconds, control } = connection
  const settings = {
    BatchMode: 'yes',
    StrictHostKeyChecking: 'yes',
    UpdateHostKeys: 'no',
    ConnectTimeout: CONNECT_SECONDS,
    ForwardAgent: 'no',
    ForwardX11: 'no',
    ClearAllForwardings: 'yes',
    PermitLocalCommand: 'no',
    RemoteCommand: 'none',
    ServerAliveInterval: Math.max(1, Math.floor(silenceSeconds / UNANSWERED)),
    ServerAliveCountMax: UNANSWERED,
    LogLevel: 'ERROR',
    ControlMaster: role === 'first' && control !== null ? 'yes' : 'no',
    ControlPersist: 'no',
    ...(knownHosts !== null && {
      UserKnownHostsFile: `"${literally(knownHosts)}"`,
      GlobalKnownHostsFile: '/dev/null',
    }),
    ...(identity !== null && { IdentitiesOnly: 'yes' }),
  }
  const options = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`])
  const place = ['-S', control === null ? 'none' : literally(control)]
  const login = [...(port === null ? [] : ['-p', port]), ...(identity === null ? [] : ['-i', literally(identity)])]
  return ['-T', ...options, ...place, ...login, '--', destination, command]
}

/** ssh replaces %-words in names of files. */
function literally(path: string): string {
  return path.replaceAll('%', '%%')
}

export type SshProcess = ChildProcessByStdio<Writable, Readable, Readable>

export function startSsh(connection: Connection, command: string, role: 'first' | 'guest' = 'guest'): SshProcess {
  const { environment: env = process.env } = connection
  const child = spawn('ssh', sshArgv(connection, command, role), { env, stdio: ['pipe', 'pipe', 'pipe'] })
  // That it is gone is noticed by its end.
  child.stdin.on('error', () => {})
  return child
}

/** Characters that ssh itself would read as something else in the name of a file. */
export function isPlainPath(path: string): boolean {
  return !/["\\\u0000-\u001f\u007f]|\$\{/.test(path)
}
