import { createHmac } from 'node:crypto'
import { readFileSync, realpathSync, statSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Environment } from '../../domain/environment.ts'
import { UsageError } from '../../domain/errors.ts'
import { makeFolderAtomic } from '../../files/disk/atomic-folder.ts'
import { hideFromGit } from '../../files/disk/hide-from-git.ts'
import { makeUserSecret, readUserSecret } from './user-secret.ts'

/** In a folder that was made here, proves that it was. */
const MARK = '.owner'

/**
 * A folder of programs in the project that this user made on this machine: the usual one, or the one beside it where
 * the usual one came from somebody else, with an archive, a clone or another user. null: there is none.
 */
export function findOwnFolder(usual: string, environment: Environment): string | null {
  const secret = readUserSecret(environment)
  if (secret === null) return null
  return placesOf(usual, secret).find((folder) => isMarked(folder, secret)) ?? null
}

/** The same, made where there is none. */
export async function makeOwnFolder(usual: string, environment: Environment): Promise<string> {
  const found = findOwnFolder(usual, environment)
  if (found !== null) return found
  const secret = makeUserSecret(environment)
  if (secret === null) throw noSecret(usual)
  for (const folder of placesOf(usual, secret)) if (await isMade(folder, secret)) return folder
  throw new UsageError('install', `${usual} was not made by you on this machine, so it is not used; remove it`)
}

function noSecret(folder: string): UsageError {
  const what = `there is no place outside the project to record that ${folder} is yours`
  return new UsageError('install', `${what}; set XDG_STATE_HOME to a folder that only you can write`)
}

function placesOf(usual: string, secret: string): string[] {
  return [usual, `${usual}-${proof(secret, 'beside').slice(0, 8)}`]
}

/** Complete with its mark from the beginning; only an empty folder gives way to it. */
async function isMade(folder: string, secret: string): Promise<boolean> {
  const parent = dirname(folder)
  const mark = async (draft: string) => {
    if (basename(parent) === '.assay') await hideFromGit(parent)
    const place = join(realpathSync(parent), basename(folder))
    await writeFile(join(draft, MARK), `${proofs(secret, place, draft).join('\n')}\n`, { mode: 0o600 })
  }
  await makeFolderAtomic(folder, mark, 0o755)
  // Another process of this user may have been faster.
  return isMarked(folder, secret)
}

function isMarked(folder: string, secret: string): boolean {
  try {
    const lines = readFileSync(join(folder, MARK), 'utf8').split('\n')
    return proofs(secret, realpathSync(folder), folder).some((each) => lines.includes(each))
  } catch {
    return false
  }
}

/** Its path stays when a cache of CI brings it back, its number when somebody moves the project. */
function proofs(secret: string, path: string, folder: string): string[] {
  const { dev, ino } = statSync(folder, { bigint: true })
  return [proof(secret, `path ${path}`), proof(secret, `number ${dev} ${ino}`)]
}

function proof(secret: string, text: string): string {
  return createHmac('sha256', secret).update(text).digest('hex')
}
