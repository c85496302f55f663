// What a power cut leaves: of every file, what it held when it was last synced, and perhaps a part of what came after.
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

let root = null
/** By inode: what was on the disk before the first change since the last sync. */
const unsynced = new Map()
/** Paths that did not exist when they were begun. */
const begun = new Set()
let real = null

/** Before others replace them. */
export function keepRealFunctions() {
  real = { existsSync, readdirSync, readFileSync, statSync, writeFileSync }
}

export function track(folder) {
  root = folder
  unsynced.clear()
  begun.clear()
}

export function willChange(path) {
  if (root === null) return
  const facts = real.statSync(path, { throwIfNoEntry: false })
  if (facts === undefined) begun.add(path)
  else if (facts.isFile() && !unsynced.has(facts.ino))
    unsynced.set(facts.ino, begun.has(path) ? Buffer.alloc(0) : real.readFileSync(path))
}

/** A new file is known by its inode from now on, whatever it is renamed to. */
export function didChange(path) {
  if (begun.has(path)) willChange(path)
}

export function didSync(path) {
  if (root === null) return
  begun.delete(path)
  const facts = real.statSync(path, { throwIfNoEntry: false })
  if (facts) unsynced.delete(facts.ino)
}

/** `drop`: nothing of what was not synced is there; `half`: the first half of it is. */
export function cut(how) {
  for (const path of begun) willChange(path)
  for (const entry of real.readdirSync(root, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name)
    if (!entry.isFile()) continue
    const synced = unsynced.get(real.statSync(path).ino)
    if (synced) real.writeFileSync(path, remains(synced, real.readFileSync(path), how))
  }
}

function remains(synced, written, how) {
  if (how === 'drop') return synced
  const isAppended = written.subarray(0, synced.length).equals(synced)
  const kept = isAppended ? synced.length : 0
  return written.subarray(0, kept + ((written.length - kept) >> 1))
}
