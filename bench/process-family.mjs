import { readdirSync, readFileSync } from 'node:fs'

/** A process with all its descendants. */
export function family(pid) {
  const parents = new Map()
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    const stat = readIfThere(`/proc/${name}/stat`)
    if (stat) parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 4).split(' ')[0]))
  }
  const isOf = (each) => each === pid || (parents.has(each) && isOf(parents.get(each)))
  return [...parents.keys()].filter(isOf)
}

/** What a process and its descendants hold, shared pages counted once (PSS). */
export function heldMiB(pid) {
  return family(pid).reduce((sum, each) => sum + numberIn(`/proc/${each}/smaps_rollup`, /^Pss:\s+(\d+)/m) / 1024, 0)
}

/** Bytes that they have sent to a disk so far; what ended counts with its parent. */
export function writtenBytes(pid) {
  return family(pid).reduce((sum, each) => sum + numberIn(`/proc/${each}/io`, /^write_bytes: (\d+)/m), 0)
}

function numberIn(path, pattern) {
  return Number(pattern.exec(readIfThere(path))?.[1] ?? 0)
}

/** It may have ended meanwhile. */
function readIfThere(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
