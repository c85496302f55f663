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

/** Does the process that had this id at that time still run? Another process may have the id by now. */
export function livenessOf(pid: number, boot: string, atMs: number): Liveness {
  if (boot !== bootId()) return 'elsewhere'
  if (!Number.isInteger(pid) || pid <= 0 || !processExists(pid)) return 'dead'
  const stat = processStat(pid)
  if (!stat) return 'alive'
  const CLOCK_SLACK_MS = 10_000
  return stat.ended || stat.startedMs > atMs + CLOCK_SLACK_MS ? 'dead' : 'alive'
}

function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function processStat(pid: number): { ended: boolean; startedMs: number } | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const bootSeconds = Number(/^btime (\d+)/m.exec(readFileSync('/proc/stat', 'utf8'))?.[1])
    const TICKS_PER_SECOND = 100
    return {
      ended: fields[0] === 'Z' || fields[0] === 'X',
      startedMs: (bootSeconds + Number(fields[19]) / TICKS_PER_SECOND) * 1000,
    }
  } catch {
    return null
  }
}

/** A folder name that tells which process made it and when. */
export function ownedName(): string {
  return `${process.pid}.${bootId()}.${ulid()}`
}

const ELSEWHERE_LIVES_MS = 24 * 3600_000

interface Owner {
  readonly sinceMs: number
  readonly mayLive: boolean
}

/** Who made a folder with an owned name; null: the name is not of that form. Strangers count as living for a day. */
export function ownerOf(name: string, path: string): Owner | null {
  const [pid = '', boot = '', id = '', ...rest] = name.split('.')
  const sinceMs = ulidTimeMs(id)
  if (!/^\d+$/.test(pid) || boot === '' || sinceMs === null || rest.length > 0) return null
  const liveness = livenessOf(Number(pid), boot, sinceMs)
  const mayLive = liveness === 'elsewhere' ? isFresh(path) : liveness === 'alive'
  return { sinceMs, mayLive }
}

function isFresh(path: string): boolean {
  const facts = statSync(path, { throwIfNoEntry: false })
  return facts !== undefined && Date.now() - facts.mtimeMs < ELSEWHERE_LIVES_MS
}
