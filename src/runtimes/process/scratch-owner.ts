import { readFileSync, readlinkSync } from 'node:fs'

/** In words that mean one process and never another, wherever the folder is seen: its id, start, and where ids count. */
export function ownerWords(pid: number): string {
  return `${pid} ${startTicks(pid) ?? 'unknown'} ${idSpace()}`
}

/** Whether the described process has ended; unknown for another machine, container or boot. */
export function isGone(words: string): boolean {
  const [pid = '', start, space] = words.trim().split(' ')
  if (!/^[1-9]\d*$/.test(pid) || start === undefined || space !== idSpace()) return false
  if (!exists(Number(pid))) return true
  const now = startTicks(Number(pid))
  return now !== null && start !== 'unknown' && now !== start
}

/** A process id means one process within a boot and a namespace, where the system tells them. */
function idSpace(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    return `${boot}-${readlinkSync('/proc/self/ns/pid').replace(/\D/g, '')}`
  } catch {
    return 'unknown'
  }
}

/** Since the machine's start, so that no change of the clock matters. */
function startTicks(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null
  } catch {
    return null
  }
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
