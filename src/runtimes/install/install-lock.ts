import { rm, stat, writeFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { readText } from '../../files/disk/regular-file.ts'

const POLL_MS = 200
/** A lock that has had no number for this long was abandoned. */
const UNSIGNED_MS = 10_000

/** Several processes may want to install into one folder; the others wait for the one that has the lock. */
export async function withLock(path: string, work: () => Promise<void>): Promise<void> {
  while (!(await takeLock(path))) await delay(POLL_MS)
  try {
    await work()
  } finally {
    await rm(path, { force: true })
  }
}

async function takeLock(path: string): Promise<boolean> {
  try {
    await writeFile(path, String(process.pid), { flag: 'wx' })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    if (await isStale(path)) await rm(path, { force: true })
    return false
  }
}

/** Its owner has ended, perhaps before it wrote its number. */
async function isStale(path: string): Promise<boolean> {
  const pid = Number(await readText(path).catch(() => ''))
  if (!(pid > 0)) return (await ageMs(path)) > UNSIGNED_MS
  // This process asks for each folder once, so an earlier one had the same number.
  if (pid === process.pid) return true
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}

async function ageMs(path: string): Promise<number> {
  return stat(path).then(
    ({ mtimeMs }) => Date.now() - mtimeMs,
    () => 0,
  )
}
