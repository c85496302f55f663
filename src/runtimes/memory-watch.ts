import { readFileSync } from 'node:fs'

const INTERVAL_MS = 100

/** Calls back once when a process and its children hold more than the limit; does nothing where there is no /proc. */
export function watchMemory(pid: number, limitBytes: number, onOver: (residentBytes: number) => void): () => void {
  const timer = setInterval(() => {
    const residentBytes = residentBytesOf(pid)
    if (residentBytes <= limitBytes) return
    clearInterval(timer)
    onOver(residentBytes)
  }, INTERVAL_MS)
  timer.unref()
  return () => clearInterval(timer)
}

/** Of a process and of the children that its main thread started. */
function residentBytesOf(pid: number): number {
  const resident = /^VmRSS:\s+(\d+) kB$/m.exec(readProc(`${pid}/status`))
  const children = readProc(`${pid}/task/${pid}/children`).trim().split(' ').filter(Boolean)
  return Number(resident?.[1] ?? 0) * 1024 + children.reduce((sum, child) => sum + residentBytesOf(Number(child)), 0)
}

function readProc(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, 'utf8')
  } catch {
    // The process has ended meanwhile, or this system has no /proc.
    return ''
  }
}
