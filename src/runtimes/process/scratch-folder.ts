import { randomBytes } from 'node:crypto'
import { lstatSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Environment, setVariables } from '../../domain/environment.ts'
import { listNames } from '../../files/disk/list-names.ts'
import { isGone, ownerWords } from './scratch-owner.ts'

const OWNER_FILE = 'owner'
const NAME = /^assay-[a-z]+-[0-9a-f]{12}$/

const swept = new Set<string>()

/** A name for a worker's own temporary folder; whoever needs the folder makes it. */
export function scratchFolder(runtime: string, environment: Environment): string {
  const { TMPDIR = tmpdir() } = setVariables(environment)
  if (!swept.has(TMPDIR)) void sweepScratch(TMPDIR)
  swept.add(TMPDIR)
  return join(TMPDIR, `assay-${runtime}-${randomBytes(6).toString('hex')}`)
}

/** Makes it for this user alone, and writes down on whose behalf: that of the host. */
export function makeScratch(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  writeFileSync(join(folder, OWNER_FILE), ownerWords(process.ppid))
}

/** Removes what workers left that were killed together with their host. */
export async function sweepScratch(temporary: string): Promise<void> {
  const folders = listNames(temporary).filter((name) => NAME.test(name))
  const left = folders.map((name) => join(temporary, name)).filter(isLeft)
  await Promise.all(left.map((folder) => rm(folder, { recursive: true, force: true }).catch(() => {})))
}

function isLeft(folder: string): boolean {
  try {
    const facts = lstatSync(folder)
    const isOurs = facts.isDirectory() && facts.uid === (process.getuid?.() ?? facts.uid)
    return isOurs && isGone(readFileSync(join(folder, OWNER_FILE), 'utf8'))
  } catch {
    return false
  }
}
