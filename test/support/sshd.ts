import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { connect, createServer } from 'node:net'
import { hostname, userInfo } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { root, temporaryFolder } from './assay.ts'
import { until } from './events.ts'
import { atFileEnd } from './file-end.ts'
import { needTag } from './needs.ts'
import { survivorsOf } from './survivors.ts'

/** CI installs sshd and says so here; where it did, its absence is a failure and not a skip. */
const isPromised = process.env.ASSAY_TEST_SSHD === 'required'
const SSHD = ['/usr/sbin/sshd', '/usr/local/sbin/sshd'].find(isProgram) ?? null
const hasSsh = spawnSync('ssh', ['-V']).status === 0
export const canServe = isPromised || (SSHD !== null && hasSsh && process.platform === 'linux')

/** Tests that need a board, skipped where there is no sshd. */
export async function describeWithBoard(title: string, tests: (board: Board) => void): Promise<void> {
  if (!canServe) return void describe(title, () => test.skip(`behind ssh ${needTag('sshd')}`))
  const board = await Board.start()
  describe(title, () => tests(board))
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** A runner that behaves as its words say; see the file. */
export function runnerOf(...words: readonly string[]): string {
  const args = ['board-runner.mjs', ...words].map((word) => `,arg=${word}`).join('')
  return `program=${process.execPath},deploy=${join(root, 'test/workers/board-runner.mjs')}${args}`
}

/** An sshd of our own on loopback, as the current user, with its own keys, port, cache folder and leases. */
export class Board {
  readonly folder = temporaryFolder('board')
  readonly identity = join(this.folder, 'client-key')
  readonly knownHosts = join(this.folder, 'known_hosts')
  /** Where the board keeps what Assay leaves there. */
  readonly cache = join(this.folder, 'cache/assay')
  readonly user = userInfo().username
  readonly lease = `test-${process.pid}-${Math.random().toString(36).slice(2, 8)}`
  /** Of the lease on the board. */
  readonly leaseFolder = join(this.cache, 'leases', `${hostname()}.${this.lease}`)
  port = 0
  #daemon: ChildProcess | null = null

  /** The target up to what runs there. */
  get spec(): string {
    return `ssh:${this.user}@127.0.0.1,port=${this.port},identity=${this.identity},known-hosts=${this.knownHosts},lease=${this.lease}`
  }

  /** It stops when the test file is done. */
  static async start(lines: readonly string[] = []): Promise<Board> {
    const board = new Board()
    atFileEnd(() => board.stop())
    await board.#begin(lines)
    return board
  }

  async #begin(lines: readonly string[]): Promise<void> {
    mkdirSync(join(this.folder, 'cache'), { recursive: true })
    if (userInfo().uid === 0) mkdirSync('/run/sshd', { recursive: true, mode: 0o755 })
    for (const key of ['host-key', 'client-key'])
      execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(this.folder, key)])
    chmodSync(this.folder, 0o700)
    this.port = await freePort()
    writeFileSync(join(this.folder, 'authorized_keys'), readFileSync(`${this.identity}.pub`))
    this.trust(join(this.folder, 'host-key.pub'))
    writeFileSync(join(this.folder, 'sshd_config'), this.#settings(lines))
    await this.serve()
  }

  /** Writes what the client believes this board's key to be. */
  trust(publicKey: string): void {
    const [type, key] = readFileSync(publicKey, 'utf8').split(' ')
    writeFileSync(this.knownHosts, `[127.0.0.1]:${this.port} ${type} ${key}\n`)
  }

  #settings(lines: readonly string[]): string {
    return [
      ...lines,
      `Port ${this.port}`,
      'ListenAddress 127.0.0.1',
      `HostKey "${join(this.folder, 'host-key')}"`,
      `AuthorizedKeysFile "${join(this.folder, 'authorized_keys')}"`,
      `PidFile "${join(this.folder, 'sshd.pid')}"`,
      'UsePAM no',
      'StrictModes no',
      'PasswordAuthentication no',
      'PermitRootLogin yes',
      'LogLevel VERBOSE',
      `SetEnv XDG_CACHE_HOME="${join(this.folder, 'cache')}" BOARD_MARK=${this.lease}`,
      '',
    ].join('\n')
  }

  async serve(): Promise<void> {
    const args = ['-D', '-f', join(this.folder, 'sshd_config'), '-E', join(this.folder, 'sshd.log')]
    const daemon = spawn(SSHD ?? 'sshd', args, { stdio: ['ignore', 'ignore', 'inherit'] })
    this.#daemon = daemon
    await until(async () => daemon.exitCode !== null || (await answers(this.port)), 'sshd listens')
    if (daemon.exitCode !== null) throw new Error(`sshd did not start: ${this.log()}`)
  }

  /** Command lines of what runs there, beside sshd itself. */
  processes(): string[][] {
    return survivorsOf(`BOARD_MARK=${this.lease}`)
  }

  /** Folders of sessions, working or left over. */
  sessions(): string[] {
    const folder = join(this.cache, 'sessions')
    return existsSync(folder) ? readdirSync(folder).filter((name) => !name.startsWith('.')) : []
  }

  /** Content that it keeps. */
  blobs(): string[] {
    return existsSync(join(this.cache, 'blobs')) ? readdirSync(join(this.cache, 'blobs')).sort() : []
  }

  isHeld(): boolean {
    return existsSync(this.leaseFolder)
  }

  /** Nobody has it, nothing of ours runs there, no folder is left. */
  isLeftClean(): boolean {
    return !this.isHeld() && this.sessions().length === 0 && this.processes().length === 0
  }

  log(): string {
    return readFileSync(join(this.folder, 'sshd.log'), 'utf8')
  }

  stop(): void {
    this.#daemon?.kill('SIGTERM')
  }

  /** With settings that were changed meanwhile. */
  async restart(): Promise<void> {
    const gone = new Promise((resolve) => this.#daemon?.once('exit', resolve))
    this.stop()
    await gone
    await this.serve()
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => resolve(false))
    socket.on('connect', () => {
      socket.destroy()
      resolve(true)
    })
  })
}
