import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'

/** Children inherit it, and only their user can read it; what an outer Assay wrote there stays. */
const VARIABLE = '_ASSAY_GROUP'
/** New processes may start during the search. */
const PASSES = 3

/** It cannot be guessed, so only processes started on our behalf have it. */
export function newMark(): string {
  return randomBytes(16).toString('hex')
}

/** What a process needs in its environment to be found again, with all that it starts. */
export function markVariables(mark: string): Readonly<Record<string, string>> {
  const outer = process.env[VARIABLE]
  return process.platform === 'linux' ? { [VARIABLE]: outer ? `${outer} ${mark}` : mark } : {}
}

/** Ends our processes that have one of these marks, also those that left their process group; Linux only. */
export function endMarked(marks: readonly string[]): void {
  if (process.platform !== 'linux' || marks.length === 0) return
  for (let pass = 0; pass < PASSES; pass++) {
    const found = ownProcesses().filter((pid) => hasMark(pid, marks))
    if (found.length === 0) return
    for (const pid of found) kill(pid)
  }
}

function ownProcesses(): number[] {
  const uid = process.geteuid!()
  const numbers = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return numbers.map(Number).filter((pid) => pid !== process.pid && ownerOf(pid) === uid)
}

function ownerOf(pid: number): number | null {
  return statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid ?? null
}

/** Processes end while we look, and some let nobody look. */
function hasMark(pid: number, marks: readonly string[]): boolean {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`, 'latin1')
    return environment.includes(VARIABLE) && marks.some((mark) => environment.includes(mark))
  } catch {
    return false
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {}
}
