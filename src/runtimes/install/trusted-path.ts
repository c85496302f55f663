import { lstatSync, readlinkSync, type Stats, statSync } from 'node:fs'
import { isAbsolute, join, parse, resolve, sep } from 'node:path'

const MOST_LINKS = 40
const STICKY = 0o1000

/**
 * Why a file is not taken from a path: a folder on the way, from the root on and behind every link, in which somebody
 * else could have put what lies there. null: only this user, root and the owner of the project could.
 */
export function whoElseCanWrite(path: string, projectFolder: string): string | null {
  if (process.getuid === undefined) return null
  const trusted = new Set([0, process.getuid(), ownerOf(projectFolder)])
  const root = parse(resolve(path)).root
  let left = partsOf(resolve(path))
  let at = root
  for (let links = 0; left.length > 0; ) {
    const [part = '', ...rest] = left
    const next = join(at, part)
    const entry = lstatSync(next)
    if (part !== '..' && !isSafe(lstatSync(at), entry, trusted)) return at
    if (!trusted.has(entry.uid)) return next
    if (!entry.isSymbolicLink()) {
      at = next
      left = rest
      continue
    }
    if (++links > MOST_LINKS) return next
    const aim = readlinkSync(next)
    if (isAbsolute(aim)) at = root
    left = [...partsOf(aim), ...rest]
  }
  return canOthersWrite(lstatSync(at)) ? at : null
}

function partsOf(path: string): string[] {
  return path.split(sep).filter((part) => part !== '' && part !== '.')
}

/** In a folder with the sticky bit, such as /tmp, nobody can replace what belongs to another. */
function isSafe(folder: Stats, entry: Stats, trusted: ReadonlySet<number>): boolean {
  return !canOthersWrite(folder) || ((folder.mode & STICKY) !== 0 && trusted.has(entry.uid))
}

/** A group of the same number as its user is that user's own, as on most Linux systems. */
function canOthersWrite({ mode, uid, gid }: Stats): boolean {
  const isOwnGroup = gid === uid
  return (mode & 0o002) !== 0 || ((mode & 0o020) !== 0 && !isOwnGroup)
}

/** Whoever could write there could change its configuration too. */
function ownerOf(projectFolder: string): number {
  return statSync(projectFolder, { throwIfNoEntry: false })?.uid ?? 0
}
