import { readdirSync, readFileSync } from 'node:fs'

export type BrowserPart = 'graphics' | 'tab' | 'browser'

/** Processes that the zygote forked have their arguments joined by blanks. */
const MARKS: Readonly<Record<BrowserPart, RegExp>> = {
  graphics: /--type=gpu-process\b/,
  tab: /--type=renderer\b/,
  browser: /^[^\0 ]*chrom(?!.*--type=).*--user-data-dir=/s,
}

const TICK_MS = 10

/** Processes below one whose command line holds a text. */
export function processesBelow(below: number, text: string): number[] {
  return descendants(below).filter((pid) => read(`/proc/${pid}/cmdline`).includes(text))
}

/** Kills a part of every browser below a process; says how many processes that were. */
export function killPart(part: BrowserPart, below: number): number {
  const pids = partsBelow(part, below)
  for (const pid of pids) process.kill(pid, 'SIGKILL')
  return pids.length
}

/** Time that the busiest process of this part has computed, in any browser below a process. */
export function computedMs(part: BrowserPart, below: number): number {
  return Math.max(0, ...partsBelow(part, below).map(processorMs))
}

function partsBelow(part: BrowserPart, below: number): number[] {
  return descendants(below).filter((pid) => MARKS[part].test(read(`/proc/${pid}/cmdline`)))
}

function processorMs(pid: number): number {
  const fields = read(`/proc/${pid}/stat`)
    .replace(/^.*\) /s, '')
    .split(' ')
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * TICK_MS
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
