import { randomBytes } from 'node:crypto'
import { hostname, userInfo } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { parseSeconds } from '../../domain/duration.ts'
import type { Environment } from '../../domain/environment.ts'
import { UsageError } from '../../domain/errors.ts'
import type { Target } from '../../domain/target.ts'
import { cleanText } from '../../domain/text.ts'
import type { LaunchContext, Limits, Need, WorkerKind } from '../contract.ts'
import { findProgram } from '../process/find-program.ts'
import { scratchFolder } from '../process/scratch-folder.ts'
import { WORKER_VARIABLES } from '../process/worker-variables.ts'
import { workerEntry } from '../worker-entry.ts'
import { formatDestination, parseAddress } from './address.ts'
import { type Connection, isPlainPath } from './connection.ts'
import type { BoardOrder } from './order.ts'
import { SSH_SCHEMA } from './schema.ts'

/** Beyond waiting for the board and starting the runner: connecting, and saying what went wrong. */
const GRACE_MS = 20_000
/** Longer names of sockets are refused by the system; ssh itself adds 17 characters while it makes one. */
const LONGEST_SOCKET = 85

/** Where no run gave its name. */
const PROCESS_OWNER = randomBytes(16).toString('hex')

/** A program on a board that is reached by the system's ssh; one run at a time has the board. */
export const SSH: WorkerKind = {
  name: 'ssh',
  schema: SSH_SCHEMA,
  processOptions: Object.keys(SSH_SCHEMA.options),
  single: (target) => `${boardName(target)} ${target.options.lease ?? SSH_SCHEMA.options.lease}`,
  untried: ({ environment }) => untriedText(environment),
  needs: async (_target, { environment }) => [sshNeed(environment)],
  async launch(target, context, limits) {
    const order = boardOrder(target, context, limits)
    const argv = [process.execPath, workerEntry('ssh/worker.js')]
    const notice = (text: string) => context.notice(`${target.name}: ${cleanText(text, 400)}`)
    const shown = ['ssh', order.address, ...order.argv]
    const inherits = [...WORKER_VARIABLES.ssh, ...order.env.filter((entry) => !entry.includes('='))]
    const [{ scratch }, limitsHere] = [order, limitsOf(target, order, limits)]
    return { argv, order, shown, inherits, channel: 'fd3', scratch, notice, limits: limitsHere }
  },
}

function untriedText(environment: Environment): string {
  const { path, remedy } = sshNeed(environment)
  const how = 'a program on a board; give it as ssh:user@host,program=runner; assay boards shows who has it'
  return path === null ? `${how}. There is no ssh in PATH (${remedy})` : how
}

function sshNeed({ PATH = '' }: Environment): Need {
  const path = findProgram('ssh', PATH)
  return { name: 'ssh', version: null, path, onFirstUse: false, remedy: 'Debian: apt-get install openssh-client' }
}

/** Whatever user and spelling it is reached with. */
export function boardName({ device, options }: Target): string {
  return `${parseAddress(device).host.toLowerCase()}:${options.port ?? 22}`
}

export function readConnection({ device, options }: Target, projectFolder: string, control: string | null): Connection {
  const file = (option: 'identity' | 'known-hosts') => {
    const given = options[option]
    if (given === undefined) return null
    const path = resolve(projectFolder, given.replace(/^~(?=\/)/, userInfo().homedir))
    if (isPlainPath(path)) return path
    throw new UsageError('install', `${option}=${given}: ssh takes no file with ", \\ or \${ in its path`)
  }
  return {
    destination: formatDestination(parseAddress(device)),
    port: options.port ?? null,
    identity: file('identity'),
    knownHosts: file('known-hosts'),
    silenceSeconds: secondsOf(options.ttl, 'ttl'),
    control,
  }
}

/** As the lease names those who hold it. */
export function userHere(): string {
  return `${userInfo().username}@${hostname()}`
}

function boardOrder(target: Target, { projectFolder, environment, owner }: LaunchContext, limits: Limits): BoardOrder {
  const { options } = target
  const token = randomBytes(16).toString('hex')
  const scratch = scratchFolder('ssh', environment)
  const socket = join(scratch, 's')
  const deploy = options.deploy === undefined ? null : resolve(projectFolder, options.deploy)
  const program = options.program ?? `./${basename(deploy!)}`
  return {
    connection: readConnection(target, projectFolder, socket.length > LONGEST_SOCKET ? null : socket),
    address: addressText(target),
    scratch,
    lease: options.lease ?? SSH_SCHEMA.options.lease!,
    folder: options.folder ?? '',
    token,
    owner: owner ?? PROCESS_OWNER,
    name: boardName(target),
    who: `${userHere()} (process ${process.pid})`,
    ttlSeconds: secondsOf(options.ttl, 'ttl'),
    waitSeconds: owner === undefined ? 0 : secondsOf(options.wait, 'wait'),
    startMs: limitOf(options.start, limits.startMs),
    argv: [program, ...(options.arg?.split(',') ?? [])],
    env: options.env?.split(',') ?? [],
    deploy,
  }
}

/** `root@board` or `root@board,port=2222` */
export function addressText({ device, options }: Target): string {
  return options.port === undefined ? device : `${device},port=${options.port}`
}

function secondsOf(given: string | undefined, option: 'ttl' | 'wait'): number {
  return Math.round(parseSeconds(given ?? SSH_SCHEMA.options[option]!)!)
}

function limitsOf({ options }: Target, { waitSeconds, startMs }: BoardOrder, limits: Limits): Partial<Limits> {
  return {
    startMs: waitSeconds * 1000 + startMs + GRACE_MS,
    compileMs: limitOf(options.compile, limits.compileMs),
    runMs: limitOf(options.run, limits.runMs),
  }
}

function limitOf(given: string | undefined, usualMs: number): number {
  return given === undefined ? usualMs : parseSeconds(given)! * 1000
}
