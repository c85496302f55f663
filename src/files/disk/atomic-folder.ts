import { lstat, mkdir, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { explainWriteError, syncFolder } from './atomic.ts'
import { findOwner, ownedName } from './process-identity.ts'

const DRAFT = '.new-'

/**
 * Fills a folder beside its place and moves it there when it is complete; as durable as the files that `fill` writes.
 * What is at the place already stays, but an empty folder gives way. `mode` is that of the folder, as mkdir takes it.
 */
export async function makeFolderAtomic(
  place: string,
  fill: (draft: string) => Promise<void>,
  mode?: number,
): Promise<void> {
  const parent = dirname(place)
  const draft = join(parent, `${DRAFT}${ownedName()}`)
  try {
    const firstNew = await makeFolders(parent)
    await removeLeftDrafts(parent)
    await mkdir(draft, { mode })
    await fill(draft)
    await syncFolder(draft)
    await renameUnlessThere(draft, place)
    await syncFolders(parent, dirname(firstNew ?? draft))
  } catch (error) {
    throw explainWriteError(error, place)
  } finally {
    await removeIfPossible(draft)
  }
}

/** Gives the first that was not there. */
async function makeFolders(folder: string): Promise<string | undefined> {
  try {
    return await mkdir(folder, { recursive: true })
  } catch (error) {
    // It is a file, which whoever works in it is told in words.
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return undefined
    throw error
  }
}

/** Of processes that were killed. */
async function removeLeftDrafts(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const path = join(parent, name)
    const owner = name.startsWith(DRAFT) ? findOwner(name.slice(DRAFT.length), path) : null
    if (owner && !owner.mayLive) await removeIfPossible(path)
  }
}

/** A draft that stays, such as another user's, only takes room; whoever makes a folder here next tries again. */
async function removeIfPossible(draft: string): Promise<void> {
  await rm(draft, { recursive: true, force: true }).catch(() => undefined)
}

async function renameUnlessThere(draft: string, place: string): Promise<void> {
  try {
    await rename(draft, place)
  } catch (error) {
    const found = await lstat(place).catch(() => null)
    if (found === null) throw error
  }
}

/** So that a power cut does not take the way to the folder: from this one up to the one that was there before. */
async function syncFolders(folder: string, until: string): Promise<void> {
  await syncFolder(folder)
  if (folder.length > until.length) await syncFolders(dirname(folder), until)
}
