import { createHmac, randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Environment } from '../../domain/environment.ts'
import { UsageError } from '../../domain/errors.ts'
import { explainWriteError } from '../../files/disk/atomic.ts'
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
  try {
    mkdirSync(dirname(usual), { recursive: true })
  } catch (error) {
    throw explainWriteError(error, usual)
  }
  if (basename(dirname(usual)) === '.assay') await hideFromGit(dirname(usual))
  const made = placesOf(usual, secret).find((folder) => isMade(folder, secret))
  if (made !== undefined) return made
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
function isMade(folder: string, secret: string): boolean {
  const draft = `${folder}.${randomBytes(6).toString('hex')}.tmp`
  try {
    mkdirSync(draft, { mode: 0o755 })
    const place = join(realpathSync(dirname(folder)), basename(folder))
    writeFileSync(join(draft, MARK), `${proofs(secret, place, draft).join('\n')}\n`, { mode: 0o600 })
    renameSync(draft, folder)
    return true
  } catch (error) {
    rmSync(draft, { recursive: true, force: true })
    const { code } = error as NodeJS.ErrnoException
    if (!['ENOTEMPTY', 'EEXIST', 'ENOTDIR', 'EPERM'].includes(code ?? '')) throw explainWriteError(error, folder)
    // Another process of this user may have been faster.
    return isMarked(folder, secret)
  }
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
