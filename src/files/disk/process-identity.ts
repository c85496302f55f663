import { readFileSync, readlinkSync, statSync } from 'node:fs'
import { hostname } from 'node:os'
import { ulid, ulidTimeMs } from './ulid.ts'

/** `elsewhere`: of another machine, container or boot, so nothing is known. */
type Liveness = 'alive' | 'dead' | 'elsewhere'

let known: string | undefined

/** Within one boot id, a process id means one process; containers of one machine have different ones. */
export function bootId(): string {
  known ??= readBootId()
  return known
}

function readBootId(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    const namespace = readlinkSync('/proc/self/ns/pid').replace(/\D/g, '')
    return `${boot}-${namespace}`
  } catch {
    return `host-${hostname().replace(/[^A-Za-z0-9]/g, '-')}`
  }
}

/** Which process: a number alone may be another process's by now. */
export interface ProcessIdentity {
  readonly pid: number
  readonly bootId: string
  /** When it started, in clock ticks since boot: no clock that is set changes that. Absent where the system has no /proc. */
  readonly startTicks?: number
}

let self: ProcessIdentity | undefined

export function ownIdentity(): ProcessIdentity {
  self ??= readIdentity(process.pid)
  return self
}

export function readIdentity(pid: number): ProcessIdentity {
  const stat = processStat(pid)
  return { pid, bootId: bootId(), ...(stat && { startTicks: stat.startTicks }) }
}

/** Does that process still run? Without its start, a process that began after `atMs` is taken for another one. */
export function checkLiveness(owner: ProcessIdentity, atMs: number): Liveness {
  const { pid, startTicks } = owner
  if (owner.bootId !== bootId()) return 'elsewhere'
  if (!Number.isInteger(pid) || pid <= 0 || !processExists(pid)) return 'dead'
  const stat = processStat(pid)
  if (!stat) return 'alive'
  const isAnother = startTicks === undefined ? startedAfter(stat.startTicks, atMs) : stat.startTicks !== startTicks
  return stat.ended || isAnother ? 'dead' : 'alive'
}

/** Right only while nobody sets the clock: all that names without a start leave. */
function startedAfter(startTicks: number, atMs: number): boolean {
  const CLOCK_SLACK_MS = 10_000
  const TICKS_PER_SECOND = 100
  return (bootSeconds() + startTicks / TICKS_PER_SECOND) * 1000 > atMs + CLOCK_SLACK_MS
}

function bootSeconds(): number {
  try {
    return Number(/^btime (\d+)/m.exec(readFileSync('/proc/stat', 'utf8'))?.[1])
  } catch {
    return Number.NaN
  }
}

function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function processStat(pid: number): { ended: boolean; startTicks: number } | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name before them may hold anything; these are the fields from the third on.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { ended: fields[0] === 'Z' || fields[0] === 'X', startTicks: Number(fields[19]) }
  } catch {
    return null
  }
}

/** A folder name that tells which process made it and when. */
export function ownedName(): string {
  const { pid, bootId, startTicks } = ownIdentity()
  return [pid, bootId, ulid(), ...(startTicks === undefined ? [] : [startTicks])].join('.')
}

const ELSEWHERE_LIVES_MS = 24 * 3600_000

interface Owner {
  readonly sinceMs: number
  readonly mayLive: boolean
}

/** Who made a folder with an owned name; null: the name is not of that form. Strangers count as living for a day. */
export function findOwner(name: string, path: string): Owner | null {
  const [pid = '', bootId = '', id = '', start, ...rest] = name.split('.')
  const sinceMs = ulidTimeMs(id)
  const isOwned = bootId !== '' && sinceMs !== null && rest.length === 0
  if (!isOwned || ![pid, start ?? '0'].every((number) => /^\d+$/.test(number))) return null
  const owner = { pid: Number(pid), bootId, ...(start !== undefined && { startTicks: Number(start) }) }
  const liveness = checkLiveness(owner, sinceMs)
  const mayLive = liveness === 'elsewhere' ? isFresh(path) : liveness === 'alive'
  return { sinceMs, mayLive }
}

function isFresh(path: string): boolean {
  const facts = statSync(path, { throwIfNoEntry: false })
  return facts !== undefined && Date.now() - facts.mtimeMs < ELSEWHERE_LIVES_MS
}
