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

/** The most that a process and its children have held, each at its own time; null where there is no /proc. */
export function readPeakBytes(pid: number): number | null {
  return bytesOf(pid, /^VmHWM:\s+(\d+) kB$/m) || null
}

function residentBytesOf(pid: number): number {
  return bytesOf(pid, /^VmRSS:\s+(\d+) kB$/m)
}

/** Of a process and of the children that its main thread started. */
function bytesOf(pid: number, line: RegExp): number {
  const found = line.exec(readProc(`${pid}/status`))
  const children = readProc(`${pid}/task/${pid}/children`).trim().split(' ').filter(Boolean)
  return Number(found?.[1] ?? 0) * 1024 + children.reduce((sum, child) => sum + bytesOf(Number(child), line), 0)
}

function readProc(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, 'utf8')
  } catch {
    // The process has ended meanwhile, or this system has no /proc.
    return ''
  }
}
