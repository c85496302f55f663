import { checkLiveness, readIdentity } from '../../files/disk/process-identity.ts'

const NO_START = 'unknown'

/** In words that mean one process and never another, wherever the folder is seen: its id, start, and where ids count. */
export function ownerWords(pid: number): string {
  const { startTicks = NO_START, bootId } = readIdentity(pid)
  return `${pid} ${startTicks} ${bootId}`
}

/** Whether the described process has ended; unknown for another machine, container or boot. */
export function isGone(words: string): boolean {
  const [pid = '', start, bootId] = words.trim().split(' ')
  if (!/^[1-9]\d*$/.test(pid) || start === undefined || bootId === undefined) return false
  const owner = { pid: Number(pid), bootId, ...(start !== NO_START && { startTicks: Number(start) }) }
  return checkLiveness(owner, Date.now()) === 'dead'
}
