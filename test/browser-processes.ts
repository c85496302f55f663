import { readdirSync, readFileSync } from 'node:fs'

export type BrowserPart = 'graphics' | 'tab' | 'browser'

/** Processes that the zygote forked have their arguments joined by blanks. */
const MARKS: Readonly<Record<BrowserPart, RegExp>> = {
  graphics: /--type=gpu-process\b/,
  tab: /--type=renderer\b/,
  browser: /^[^\0 ]*chrom(?!.*--type=).*--user-data-dir=/s,
}

/** Kills a part of every browser below a process; says how many processes that were. */
export function killPart(part: BrowserPart, below: number): number {
  const pids = descendants(below).filter((pid) => MARKS[part].test(read(`/proc/${pid}/cmdline`)))
  for (const pid of pids) process.kill(pid, 'SIGKILL')
  return pids.length
}

function descendants(root: number): number[] {
  const parents = new Map<number, number>()
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    const [, parent] = /^\d+ \(.*\) \S (\d+)/s.exec(read(`/proc/${name}/stat`)) ?? []
    if (parent) parents.set(Number(name), Number(parent))
  }
  const isBelow = (pid: number): boolean => {
    const parent = parents.get(pid)
    return parent !== undefined && (parent === root || isBelow(parent))
  }
  return [...parents.keys()].filter(isBelow)
}

/** Processes end while we look. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
